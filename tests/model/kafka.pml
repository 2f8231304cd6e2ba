/* kafka.pml - delivery of one pipeline to one Kafka cluster, docs/exactly-once.md and docs/kafka.md.
 *
 * Base model = the design page: every property holds.
 *   -DPAGE_x  the page as it is written (a flaw)     -DM_x  a rule switched off (a mutant)
 * Environment switches: RESTORE (a backup of the directory replaces it), TWIN (a copy runs beside it), EXPIRE, LOGTRIM,
 * ROLLBACK (a broker loses its newest receipt), FOREIGN (another producer's open transaction), CLASSIC (3.9 coordinator: a late rejected TxnOffsetCommit wipes the
 * pending receipt), ASYNC (offset marker is applied after init answered), FRESH, RECREATE. FL = faults in all, any mix.
 *
 * One input record = one output row. A lineage's output is rows 1..M; row id = (lineage-1)*4 + row. An epoch is 1 or 2 rows,
 * cut where chance wills, so a twin or a restored copy cuts elsewhere. Chain hash h(N) = the set of cuts up to N.
 * A delivery is any range (A, to] of sealed rows: several epochs merged, one epoch, or a part of one (chunk). */
#ifndef M
#define M 3
#endif
#ifndef FL
#define FL 3
#endif
#define ID(l,r) (((l)-1)*4+(r))
#define BIT(i) (1<<(i))

typedef Dir {           /* what is durable in a state directory; every assignment below is one SQLite commit */
  byte lin, ns;         /* lineage; sealed epochs 1..ns */
  byte e[4], h[4];      /* last row and chain hash of each */
  byte A;               /* acked: every row <= A is proven (position, not epoch) */
  byte As;              /* receipt row that was seen when A was proven by scan, else 255 */
  bit o;                /* order in which two source partitions were read: rows 1 and 2 swapped; part of the hash */
  bool F; byte F1; bit Fls;   /* in flight: rows A+1..F1; log-start generation when it was once worded */
  byte T;               /* spool trimmed up to row */
  byte pl, pns, ph[4] };   /* ancestor lineage: number, sealed count, hashes */
Dir dir[2], bak;
byte fl = FL; bool haveb, usedb, twin, restored, freshed;
byte refused[2], done[2];

/* ---- broker ---- */
byte tst;               /* 0 no transaction, 1 Ongoing, 2 PrepareCommit */
byte trows;             /* rows in the open or prepared transaction */
byte tl, te, tr, th;    /* its receipt: lineage, epoch (0 none), row, hash */
byte pl_, pe_, pr_, ph_;  /* receipt whose marker is not yet applied (pe_ = 0: none) */
byte Rl, Re, Rr, Rh;    /* stable receipt (Re = 0: absent) */
byte vis;               /* rows that a read_committed scan finds */
byte lost;              /* rows of a topic that was deleted */
byte cnt[8];            /* how often a row was ever made visible */
bit ls;                 /* log start moved */
bit fopen, fused;       /* another producer's transaction is open below our rows */
bit val[2];             /* this directory's producer holds the current producer epoch */
bit lE, lEv, lO, lOv; byte lOl, lOe, lOr, lOh;   /* late EndTxn / TxnOffsetCommit; v = its producer epoch is still current */
byte Gl, Ge, Gr, Gh;    /* ghost: the receipt of the last commit, never lost */
byte Ol, Oe, Or, Oh; bool rolled;
byte zrows, zl, ze, zr, zh;   /* M_NEWID: transaction of an abandoned transactional.id, its EndTxn still on the way */
bool hid;               /* ghost: a receipt was wiped (CLASSIC) */

inline copy(x, y) { d_step {
  y.lin=x.lin; y.ns=x.ns; y.e[1]=x.e[1]; y.e[2]=x.e[2]; y.e[3]=x.e[3]; y.h[1]=x.h[1]; y.h[2]=x.h[2]; y.h[3]=x.h[3];
  y.A=x.A; y.As=x.As; y.F=x.F; y.F1=x.F1; y.Fls=x.Fls; y.T=x.T; y.pl=x.pl; y.pns=x.pns;
  y.ph[1]=x.ph[1]; y.ph[2]=x.ph[2]; y.ph[3]=x.ph[3]; y.o=x.o } }

inline publish() {      /* data markers: the rows become visible */
  i = 0;
  do :: i < 8 && (trows & BIT(i)) -> cnt[i]++; assert(cnt[i] <= 1 /* delivered twice */); i++
     :: i < 8 && !(trows & BIT(i)) -> i++
     :: i == 8 -> break od;
  vis = vis | trows; trows = 0; i = 0 }

proctype Broker() { byte i;
  do
  :: atomic { tst == 2 && pe_ == 0 ->            /* WriteTxnMarkers, after the OK */
       publish();
       if :: te -> Gl=tl; Ge=te; Gr=tr; Gh=th; pl_=tl; pe_=te; pr_=tr; ph_=th :: else fi;
       te=0; tst=0 }
  :: atomic { pe_ ->
#ifdef ROLLBACK
       Ol=Rl; Oe=Re; Or=Rr; Oh=Rh;
#endif
       Rl=pl_; Re=pe_; Rr=pr_; Rh=ph_; pe_=0 }
#ifdef M_NEWID
  :: atomic { ze && tst==0 && !pe_ -> trows=zrows; publish(); Gl=zl; Ge=ze; Gr=zr; Gh=zh; pl_=zl; pe_=ze; pr_=zr; ph_=zh; ze=0 }
#endif
  :: atomic { lE -> lE=0; if :: lEv && tst==1 -> tst=2 :: else fi }            /* late EndTxn */
  :: atomic { lO -> lO=0;                                                      /* late TxnOffsetCommit */
       if :: lOv && tst==1 -> tl=lOl; te=lOe; tr=lOr; th=lOh
#ifdef CLASSIC
          :: !lOv && tst==1 && te -> te=0; hid=true; Gl=tl; Ge=te; Gr=tr; Gh=th
#endif
          :: else fi }
  :: atomic { tst == 1 && fl -> fl--; tst=0; trows=0; te=0; val[0]=0; val[1]=0; lEv=0; lOv=0 }  /* transaction timeout */
#ifdef ROLLBACK         /* unclean election, restored broker: the newest receipt is lost, the one before is back */
  :: atomic { Oe && !rolled && tst==0 && !pe_ && fl -> fl--; rolled=1; Rl=Ol; Re=Oe; Rr=Or; Rh=Oh }
#endif
#ifdef EXPIRE
  :: atomic { Re && tst==0 && !pe_ && fl -> fl--; Re=0 }        /* offset retention, group or key topic deleted */
#endif
#ifdef RECREATE
  :: atomic { Re && tst==0 && !pe_ && fl -> fl--; Re=0; vis=0;  /* topic deleted and created again: its rows are nobody's now */
       i=0; do :: i<8 -> if :: cnt[i] -> cnt[i]=0; lost=lost|BIT(i) :: else fi; i++ :: else -> break od; i=0 }
#endif
#ifdef LOGTRIM
  :: atomic { vis && ls==0 && fl -> fl--; vis=0; ls=1 }         /* sink topic's own retention: read long ago, gone now */
#endif
#ifdef FOREIGN
  :: atomic { !fused && fl -> fl--; fused=1; fopen=1 }
  :: atomic { fopen -> fopen=0 }
#endif
  od }

/* Sealing is atomic here (takeover.pml opens it up). */
proctype Sealer(byte d) {
  do
  :: atomic { dir[d].ns < 3 && dir[d].e[dir[d].ns] < M && !refused[d] ->
       dir[d].e[dir[d].ns+1] = dir[d].e[dir[d].ns] + 1;
       if :: dir[d].e[dir[d].ns+1] < M -> dir[d].e[dir[d].ns+1]++ :: dir[d].ns < 2 || dir[d].e[dir[d].ns+1] == M -> skip fi;
#if defined(RESTORE) || defined(TWIN)
       if :: dir[d].ns==0 && M>1 -> if :: dir[d].o=0 :: dir[d].o=1 fi :: else fi;
#endif
       dir[d].h[dir[d].ns+1] = dir[d].h[dir[d].ns] | dir[d].o | BIT(dir[d].e[dir[d].ns+1]); dir[d].ns++ }
  od }

#define D dir[d]
#ifdef ASYNC
#define SETTLED (tst != 2)
#else
#define SETTLED (tst != 2 && !pe_)
#endif
#define KILL(l) :: atomic { fl -> fl--; goto l }      /* kill -9 or power cut: all that is volatile is gone */
#ifdef NOJUST           /* look only at loss and duplicates */
#define JUST(x) true
#else
#define JUST(x) (x)
#endif
/* Refuse is just only when the last commit is not explained by this directory's chain, or rows are gone. */
#define EXPLAINED (Ge==0 || (Gl==D.lin && Ge<=D.ns && Gh==D.h[Ge]) || (Gl==D.pl && D.pl && Ge<=D.pns && Gh==D.ph[Ge]))
inline refuse(why) { refused[d]=why; assert(JUST(!EXPLAINED || (ls && D.F) || (hid && D.As==255) || (restored && re==0) || rolled) /* refused needlessly */); goto out }
#define OWEDP(a,b) ((BIT(ID(D.lin,b)+1)-1) & ~(BIT(ID(D.lin,a)+1)-1))
#define S4 ((D.lin-1)*4)
#define SW(m) (D.o -> (((m) & ~(6<<S4)) | (((m)&(2<<S4))<<1) | (((m)&(4<<S4))>>1)) : (m))
#define OWED(a,b) SW(OWEDP(a,b))        /* the records in rows a+1..b, as a set */

proctype W(byte d) { byte rl, re, rr, rh, to, k, i, ep; bit began, ok, mine, skipread, scan;
top: atomic { val[d] = 0;    /* "destroy the producer, take the path from its start" */
       rl=0; re=0; rr=0; rh=0; to=0; k=0; ep=0; began=0; ok=0; mine=0; scan=0; skipread=0 }
  /* between two lives: the directory may be replaced by its backup, or --fresh given */
  if
#ifdef RESTORE
  :: atomic { d==0 && haveb && !usedb -> usedb=true; restored=true; copy(bak, dir[0]) }
#endif
#ifdef FRESH
  :: atomic { d==0 && !freshed && D.lin==1 -> freshed=true;    /* --fresh --discard-undelivered: new lineage */
#ifdef M_NEWID          /* "transactional.id = weir-<pipeline> (plus the cluster where there are several)": changes under --fresh */
       if :: tst==1 && te && lE && lEv -> zrows=trows; zl=tl; ze=te; zr=tr; zh=th; lE=0; tst=0; trows=0; te=0 :: else fi;
#endif
       D.pl=D.lin; D.pns=D.ns; D.ph[1]=D.h[1]; D.ph[2]=D.h[2]; D.ph[3]=D.h[3];
       D.lin=2; D.ns=0; D.A=0; D.As=255; D.F=0; D.F1=0; D.T=0; D.e[1]=0; D.e[2]=0; D.e[3]=0; D.h[1]=0; D.h[2]=0; D.h[3]=0 }
#endif
  :: skip fi;
again:
#ifdef M_READ_FIRST     /* "Reading the receipt before fencing duplicates" */
  atomic { !te && !pe_ -> rl=Rl; re=Re; rr=Rr; rh=Rh };
#endif
  /* "new producer -> init_transactions (fences, settles any orphan)": waits for prepared markers, aborts an open one */
#ifdef M_REUSE          /* "One producer instance per delivery, always" */
  if :: atomic { mine && val[d] -> goto fenced } :: else fi;
#endif
  if KILL(top)
  :: atomic { SETTLED -> tst=0; trows=0; te=0; val[0]=0; val[1]=0; lEv=0; lOv=0; val[d]=1; mine=1 } fi;
fenced:
#ifndef M_READ_FIRST
  /* "read the receipt (require_stable)": blocks while a receipt is pending */
  if KILL(top)
#ifdef M_PLAIN          /* "A plain read right after a commit is stale" */
  :: atomic { !skipread -> rl=Rl; re=Re; rr=Rr; rh=Rh }
#else
  :: atomic { !skipread && !pe_ && !te -> rl=Rl; re=Re; rr=Rr; rh=Rh }
#endif
  :: skipread -> goto deliver
  fi;
#endif
  /* ---- the decision table, first matching row wins ---- */
  atomic {
#ifdef PAGE_CHUNK       /* page: offset = epoch, "committed: A = R" - a chunk's receipt reads as the whole epoch's */
    if :: re && rl==D.lin && re<=D.ns -> rr = D.e[re] :: else fi;
#endif
    if
    :: re && rl != D.lin ->
       if
#ifdef PAGE_ANC         /* page: "R of an ancestor lineage ... start", whatever A and F are */
       :: rl==D.pl && re<=D.pns -> D.A=0; D.F=0; goto deliver
#endif
       :: rl==D.pl && re<=D.pns && rh==D.ph[re] && D.A==0 && !D.F -> goto deliver
       :: rl==D.pl && re<=D.pns && rh==D.ph[re] && D.A==0 && D.F -> scan=1
       :: rl==D.pl && D.As==100 && !D.F -> goto deliver       /* ancestor's receipt was what we saw when the scan proved A */
       :: rl==D.pl && D.As==100 && D.F -> scan=1
       :: else -> refuse(1)                       /* unknown lineage, or an ancestor's above what it had sealed */
       fi
    :: re && rl == D.lin ->
       if
#ifndef M_NOABOVE
       :: re > D.ns -> refuse(2)                  /* above everything sealed here: backup or twin */
#endif
#ifndef M_NOHASH
       :: re <= D.ns && rh != D.h[re] -> refuse(3)     /* fork (page: no row) */
#endif
#ifdef PAGE_GAP         /* page: only "A < R <= F.last" is a row; above it nothing fits but Refuse */
       :: re <= D.ns && rh == D.h[re] && rr > D.A && !(D.F && rr <= D.F1) -> refuse(4)
#endif
       :: else ->
          if
          :: rr > D.A -> D.A=rr; D.As=255; D.F=0; goto proven
          :: rr == D.A && !D.F -> goto deliver
          :: rr == D.A && D.F -> scan=1
#ifdef PAGE_SCANR       /* page: "R below A -> Refuse", also right after a second proof */
          :: rr < D.A -> refuse(5)
#else
          :: rr < D.A && rr == D.As && !D.F -> goto deliver
          :: rr < D.A && rr == D.As && D.F -> scan=1
          :: rr < D.A && rr != D.As -> refuse(5)
#endif
          fi
       fi
    :: re == 0 && D.F -> scan=1
    :: re == 0 && !D.F ->
#ifdef PAGE_TRUSTA      /* page: "R absent, no F: trust A" */
       goto deliver
#else
       if :: D.A == 0 -> goto deliver             /* nothing of ours was ever proven here */
          :: else -> skip fi                      /* look for rows above A before trusting it */
#endif
    fi }
#ifdef M_NOSCAN         /* R == A or absent, F set: deliver without the second proof */
  goto deliver;
#endif
  /* ---- second proof: read_committed to the high watermark of a read_uncommitted handle ---- */
  atomic {
#ifdef M_HWRC           /* a read_committed handle's "high" is the last stable offset: ends below an open transaction */
    if :: fopen -> k = 0 :: else -> k = vis fi;
#else
    !fopen -> k = vis;                            /* others' open transactions: wait */
#endif
    if
    :: D.F && (k & OWED(D.A, D.F1)) == OWED(D.A, D.F1) && !(k & OWED(D.F1, M)) ->
         D.As = (re==0 -> 255 : (rl!=D.lin -> 100 : rr)); D.A=D.F1; D.F=0; goto proven
    :: !(k & OWED(D.A, M)) ->
#ifndef PAGE_LOGSTART   /* page, row R == A: "none = deliver from A+1", whatever was deleted meanwhile */
         if :: D.F && D.Fls != ls -> if :: !val[d] -> goto top :: else -> refuse(6) fi :: else fi;
#endif
         goto deliver
#ifdef PAGE_RACE        /* page: "some = Refuse", though a twin may have committed between our read and our scan */
    :: else -> refuse(7)
#else
    :: else -> if :: !val[d] -> goto top :: else -> refuse(7) fi   /* Refuse only if nobody fenced us meanwhile */
#endif
    fi };

proven: if KILL(top) :: atomic { D.T = D.A } fi;  /* trim */
deliver:
  if KILL(top)
  :: atomic { D.A == M -> done[d]=1; goto out }
#ifdef M_UNSEALED       /* "Only then is the output delivered" */
  :: atomic { D.A < M -> to = D.A+1; D.F=1; D.F1=to }
#endif
  :: atomic { D.A < D.e[D.ns] -> to = D.A+1;      /* choose what to merge, or where to chunk */
       do :: to < D.e[D.ns] -> to++ :: break od;
       ep=1; do :: ep < D.ns && D.e[ep] < to -> ep++ :: else -> break od;
#ifdef M_ACKFIRST       /* "commit -> durable acked" */
       D.A=to; D.T=to; k=0 ;
#endif
#ifndef M_NOF           /* "durable inflight" before begin */
       D.F=1; D.F1=to; D.Fls=ls
#endif
     } fi;
  k = D.A; 
#ifdef M_ACKFIRST
  k = 0; do :: k < to && !(cnt[ID(D.lin,k+1)] || (trows & BIT(ID(D.lin,k+1)))) -> break :: k < to && cnt[ID(D.lin,k+1)] -> k++ :: k>=to -> break od; D.F=0;
#endif
  assert(k >= D.T /* needs what was trimmed */);
  do                                              /* begin, produce row by row */
  :: k == to -> break
  KILL(top)
  :: atomic { k < to && (!val[d] || (began && tst != 1)) -> goto top }      /* fenced or INVALID_TXN_STATE: in doubt */
  :: atomic { k < to && val[d] && ((!began && tst == 0 && !pe_) || (began && tst == 1)) -> k++; began=1; tst=1;
       assert(k <= D.e[D.ns] /* delivered before sealed */); trows = trows | SW(BIT(ID(D.lin,k))) }
  od;
  if KILL(top)                                    /* "receipt last" */
  :: atomic { !(val[d] && tst==1) -> goto top }
  :: atomic { val[d] && tst==1 -> tl=D.lin; te=ep; tr=to; th=D.h[ep];
       if :: skip
          :: fl && !lO -> fl--; lO=1; lOv=1; lOl=tl; lOe=te; lOr=tr; lOh=th fi }      /* a copy is still on its way */
  fi;
#ifdef M_TRIMFIRST      /* "only after proof" */
  D.T = to;
#endif
  if KILL(top)                                    /* commit = EndTxn */
  :: atomic { !(val[d] && tst==1) -> goto doubt }
  :: atomic { val[d] && tst==1 ->
       if :: tst=2; ok=1
          :: fl -> fl--; tst=2                                  /* applied, answer lost */
          :: fl -> fl--                                         /* request lost */
          :: fl && !lE -> fl--; lE=1; lEv=1                     /* held in the network */
          :: fl && !lE -> fl--; tst=2; ok=1; lE=1; lEv=1        /* applied, and a copy comes later */
       fi }
  fi;
doubt:
  if
  KILL(top)
  :: atomic { ok ->
       D.A=to; D.As=255; D.F=0;                   /* durable acked, clear inflight */
       i = (vis | trows | lost | BIT(0)); 
       assert(ls || ((i & OWED(0,D.A)) == OWED(0,D.A)) /* acked but not delivered */); i=0;
       began=0; ok=0; to=0; ep=0; k=0; scan=0 }
  :: !ok ->
#ifdef M_TRUSTERR       /* "Error codes are not evidence": a failed commit is taken for not committed */
       atomic { mine=0; began=0; skipread=1; goto again }
#endif
       goto top
  fi;
  if KILL(top) :: atomic { D.T = D.A } fi;        /* trim */
  goto again;
out: atomic { val[d]=0; rl=0; re=0; rr=0; rh=0; k=0; to=0; ep=0; began=0; ok=0; mine=0; scan=0; skipread=0 } }

#ifdef EXPIRE   /* a backup older than the first contact with the sink equals a new directory: nothing can tell (findings, inherent) */
#define OLDENOUGH (dir[0].A || dir[0].F)
#else
#define OLDENOUGH true
#endif
init { atomic { dir[0].lin=1; dir[1].lin=1; dir[0].As=255; dir[1].As=255; run Broker(); run Sealer(0); run W(0) };
  do
#if defined(RESTORE) || defined(TWIN)
  :: atomic { !haveb && OLDENOUGH -> haveb=true; copy(dir[0], bak) }
#endif
#ifdef TWIN
  :: atomic { haveb && !usedb -> usedb=true; twin=true; copy(bak, dir[1]); run Sealer(1); run W(1) }
#endif
  :: timeout -> break
  od;
  /* Quiet: whoever did not refuse has delivered everything, once. */
  byte r;
  if :: !refused[0] || (twin && !refused[1]) ->
       for (r : 1 .. M) { assert(cnt[ID(dir[0].lin,r)] == 1 || (lost & BIT(ID(dir[0].lin,r))) || (freshed && restored) || (freshed && twin) /* lost */) };
       assert(refused[0] || done[0] /* stuck */)
     :: else fi }
