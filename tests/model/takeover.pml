/* takeover.pml - what every start does with a state directory: takeover, sealing, the append file.
 *
 * One bounded job (rows 1..M, one row per epoch), two sinks: an append file (its own stage, receipt
 * file beside it) and a remote sink K that may be offline and whose receipt is exact (a SQLite
 * target; sqlsink.pml opens its delivery up).
 *
 * Base = the rules of docs/exactly-once.md, as src/protocol/takeover.cc and local_file.cc have them.
 * -DPAGE_x = an earlier wording of them, -DM_x = a rule switched off: SPIN must then find a
 * counterexample (check.sh).
 *
 * Outside the process: a supervisor that reruns after every death (the same job), a user who reruns
 * after exit 0 or gives --fresh (a new job: "gen"), and an operator who restores an old state
 * directory (-DRESTORE). FL = how many faults may happen.
 * Power: a SQLite commit may sit in the page cache when the process dies (kill between write and
 * fsync, or a failed fsync, -DEIO); a kill -9 keeps the cache, a power cut does not. */
#ifndef M
#define M 2
#endif
#ifndef FL
#define FL 3
#endif
byte fl = FL;
/* state.db: newest run row, newest epoch row of this lineage, cursors. top == base: no sealed epoch in this lineage yet */
byte run_, lin, base, top, off, A, flen_; bool fin, claim;
byte anc, linmax; byte so[8];                            /* per lineage: rows it had sealed here ("remembers its ancestors") */
byte olin, otop, ooff, oA, ofl;          /* newest epoch row of the lineage before */
bool unsync, dead_wb; byte ptop, poff, pfl, pA;  /* last seal is only in the page cache; dead_wb: its fsync failed, later fsyncs say OK */
/* the output file and its receipt file */
bool fexist; byte f[4], flen, rlin, rid, rlen;
/* sink K */
byte Kl, Kr, cnt[4]; bool up = 1;
/* backup of the state directory */
bool haveb, restored; byte b[10], bgen;
/* ghosts */
byte gen = 1, sealedlen, sealed_hi; bool exited, refused, wantfresh, discard, user, finishedonce;
byte linseen[8];                           /* lineage of each sealed id: ids are not reused by another lineage */

#ifdef M_FIN
#define RESUMABLE true
#else
#define RESUMABLE !fin
#endif
#ifdef M_ONEANC  /* "remembers its ancestors": only the last one */
#define UNKNOWN(l) (l != lin && l != lin-1)
#else
#define UNKNOWN(l) (!(anc & (1<<(l))))
#endif
#define POWER if :: unsync -> top=ptop; off=poff; so[lin]=off; flen_=pfl; A=pA; fin=0; unsync=0; dead_wb=0 :: else fi; \
              if :: flen > flen_ && flen > sealedlen -> flen-- :: skip fi       /* unsynced tail of the file may be gone */
#define DIE   fl -> fl--; if :: skip :: POWER fi; goto dead
#define K_(x) if :: atomic { DIE } :: atomic { x } fi
#define SYNC  if :: !dead_wb -> unsync=0 :: else fi          /* any later FULL commit fsyncs the whole WAL */
#define REFUSE(why, just) refused=1; assert((just) /* refused needlessly */); goto stop

inline newgen() { gen++; cnt[1]=0; cnt[2]=0; cnt[3]=0; exited=0; sealedlen=0; user=1 }

active proctype Weir() { byte i; bool fresh, ours;
start: atomic { fresh=0; ours=0;
    /* step 1 happens before: the lock; nothing is cut before the decision */
#ifndef PAGE_EIO        /* after an unclean end the first act is a full checkpoint: what the cache claims is written anew */
    if :: run_ && !fin -> unsync=0; dead_wb=0 :: else fi;
#endif
    /* ---- decide ---- */
    if
    :: run_ == 0 -> fresh=1                                                   /* no state */
    :: run_ && wantfresh ->
         if
#ifndef M_FRESHDROP     /* "--fresh, and undelivered sealed epochs exist: Refuse with counts" */
         :: off > A && !discard -> wantfresh=0; goto start0
#endif
         :: else -> fresh=1; ours=1 fi
#ifndef M_FIN           /* "last run finished cleanly: Fresh" */
    :: run_ && !wantfresh && fin -> fresh=1
#endif
#ifdef M_FLOOR          /* "a sealed epoch above the floor" - floor ignored */
    :: run_ && !wantfresh && !fin && top == base && otop -> lin=olin; top=otop; off=ooff; A=oA; flen_=ofl
#endif
#ifdef M_BASE           /* base id not above what older runs left: an older row is the newest */
    :: run_ && !wantfresh && !fin && otop > top -> lin=olin; top=otop; off=ooff; A=oA; flen_=ofl
    :: run_ && !wantfresh && !fin && otop <= top && top == base -> fresh=1
#else
#ifndef M_FLOOR
    :: run_ && !wantfresh && !fin && top == base -> fresh=1                   /* none above the floor */
#endif
#endif
    :: run_ && !wantfresh && top > base && RESUMABLE -> skip      /* Resume at the newest */
    fi;
    wantfresh=0;
    /* ---- the append file: "refuse before anything is cut" ---- */
    if
    :: !fresh ->
#ifndef M_NORECEIPT
         if :: rid && (UNKNOWN(rlin) || rlin == lin && rid > top) -> REFUSE(1, restored) :: else fi;
#endif
         if :: flen < flen_ -> REFUSE(2, restored) :: else fi
    :: fresh && fexist ->
#ifdef PAGE_CLAIM       /* page: only a file that the last FINISHED run wrote is replaced, "any other existing file is refused" */
         if :: (fin || finishedonce) && rid && rlen == flen -> skip :: else -> REFUSE(3, !run_) fi
#else                   /* the run row claims the path before the file is created */
         if :: claim -> skip :: else -> REFUSE(3, !run_) fi
#endif
    :: else
    fi };
  /* ---- step 3: the run row ---- */
  K_(skip);
#ifdef M_EARLYSEND      /* sinks resolved before the run row: nothing has synced the WAL yet */
  if :: atomic { run_ && !fresh && up && A < off && !(Kl==lin && Kr>A) -> i=A; do :: i<off -> i++; cnt[i]++; assert(cnt[i]<=1) :: else -> break od; Kl=lin; Kr=off; A=off } :: skip fi;
  K_(skip);
#endif
  if :: atomic { DIE }
     :: atomic { fresh -> /* --fresh has happened once its run row is durable */
          if :: top > base -> olin=lin; otop=top; ooff=off; oA=A; ofl=flen_ :: else fi;
          if :: ours -> i=A; newgen(); A=i :: else fi; run_=1; linmax++; lin=linmax; anc=anc|(1<<lin);        /* random in truth: never one that ever was */
          assert(!ours || A == off || discard /* undelivered dropped silently */);
#ifdef M_BASE
          base=0;
#else
          base=top;
#endif
          top=base; off=0; A=0; flen_=0; fin=0; claim=1; unsync=0; dead_wb=0 }
     :: atomic { !fresh -> run_=1; fin=0; SYNC } fi;
  /* ---- the stage drops everything beyond the sealed extent ---- */
  K_(assert(flen_ >= sealedlen || fresh /* sealed output cut */); fexist=1; flen=flen_);
  /* ---- run ---- */
work:
  do
  :: atomic { DIE }
  :: atomic { off < M && flen == flen_ -> f[flen]=off+1; flen++ }             /* rows go to the file as the epoch makes them */
  :: off < M && flen > flen_ ->                                               /* cut, fsync, seal */
#ifdef M_RECEIPTFIRST   /* "renamed into place after each seal" */
       K_(rlin=lin; rid=top+1; rlen=flen);
#endif
       if :: atomic { DIE }
          :: atomic { fl -> fl--; ptop=top; poff=off; pfl=flen_; pA=A; unsync=1; top++; off++; so[lin]=off; flen_=flen;     /* kill between write and fsync */
               if :: dead_wb=0
#ifdef EIO
                  :: dead_wb=1
#endif
               fi; if :: skip :: POWER fi; goto dead }
          :: atomic { top++; off++; so[lin]=off; flen_=flen; unsync=0;
               assert(linseen[top]==0 || linseen[top]==lin || restored /* id reused */); linseen[top]=lin } fi;
       K_(rlin=lin; rid=top; rlen=flen; sealedlen=flen)
  :: atomic { up && A < off ->                                                /* resolve, then deliver; receipt in the same transaction */
       if :: Kl == lin && Kr > A ->
#ifndef M_NOABOVE
               if :: Kr > off -> REFUSE(4, restored) :: else fi;
#endif
               A=Kr; SYNC
          :: Kl != lin && Kl && A > 0 -> REFUSE(5, restored)
          :: Kl && (UNKNOWN(Kl) || Kl != lin && Kr > so[Kl]) -> REFUSE(6, restored)
          :: else -> cnt[A+1]++; assert(cnt[A+1] <= 1 /* delivered twice */); Kl=lin; Kr=A+1 fi }
  :: atomic { Kl == lin && Kr == A+1 && A < off -> A++; SYNC }                /* durable acked */
  :: atomic { fl && up -> fl--; up=0 }
  :: atomic { !up -> up=1 }
#ifdef M_FINEARLY       /* "bounded input ended, every sink acked" */
  :: atomic { off == M -> break }
#else
  :: atomic { off == M && A == M -> break }
#endif
  od;
  K_(fin=1; SYNC; finishedonce=1);                                            /* finish.before_marker | marker */
#ifdef PAGE_MARKER      /* page: the marker decides alone; a death between marker and exit 0 reruns the whole job */
  K_(exited=1);
#else                   /* outside the claim, stated: marker and exit are one step for the caller */
  exited=1;
#endif
dead: atomic {
    if
    :: exited ->
         assert(cnt[1]==1 && cnt[2]==1 /* lost in K */); assert(flen==M && f[0]==1 && f[1]==2 /* lost in the file */);
         if :: gen < 2 -> newgen() :: goto stop fi                            /* the user reruns the finished job */
    :: !exited ->
         if :: skip
            :: gen < 2 && run_ -> wantfresh=1; if :: discard=1 :: discard=0 fi
#ifdef RESTORE
            :: haveb && !restored && gen==bgen && !wantfresh -> restored=1; run_=b[0]; lin=b[1]; base=b[2]; top=b[3]; off=b[4]; A=b[5]; flen_=b[6]; fin=b[7]; claim=b[8]; anc=b[9]; so[lin]=off; unsync=0; dead_wb=0
            :: run_ && !haveb -> haveb=1; bgen=gen; b[0]=run_; b[1]=lin; b[2]=base; b[3]=top; b[4]=off; b[5]=A; b[6]=flen_; b[7]=fin; b[8]=claim; b[9]=anc
#endif
         fi
    fi };
  goto start;
start0: skip; goto start;
stop: skip }
