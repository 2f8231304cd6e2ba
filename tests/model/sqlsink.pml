/* sqlsink.pml - delivery to a SQL target: the receipt is a row in the target database, moved in the
 * transaction that carries the rows.
 *
 * There is no fencing here: an old session whose COMMIT answer was lost may still commit after we
 * have reconnected and read, and a twin (a copied directory) may run beside us (-DTWIN). Base = the
 * receipt is moved by compare-and-set under a row lock (UPDATE receipts SET pos = to WHERE pos = from:
 * one row, or roll back and decide again), as docs/exactly-once.md has it.
 * -DPAGE_READ = read, then insert blindly: must fail. FL = how many faults may happen. */
#ifndef FL
#define FL 2
#endif
byte fl = FL, pos, cnt[4], A[2];       /* receipt; copies of each row; acked per directory */
byte owner;                            /* row lock of the receipt row: 0 free, else session + 1 */
bool lh, la, lf_ok; byte lfrom, lto;   /* an old session's COMMIT that is still on its way, lock held if la */
inline apply(a, b) { i = a; do :: i < b -> i++; cnt[i]++; assert(cnt[i] <= 1 /* delivered twice */) :: else -> break od; pos = b; i = 0 }

proctype Late() { byte i;              /* the server finishes, or rolls back, an orphaned session */
  do :: atomic { lh -> lh=0; if :: apply(lfrom, lto) :: skip fi; if :: owner==9 -> owner=0 :: else fi } od }

proctype W(byte d) { byte r, i, to;
top:
  atomic { r = pos };                                  /* read the receipt (plain MVCC read: no lock) */
  if :: atomic { r > A[d] -> A[d] = r } :: else fi;
  if :: A[d] == 2 -> goto out :: else fi;
  to = A[d] + 1; if :: to = 2 :: skip fi;
#ifdef PAGE_READ
  if                                                   /* insert rows + receipt, COMMIT */
  :: atomic { apply(A[d], to); A[d] = to }
  :: atomic { fl && !lh -> fl--; lh=1; lfrom=A[d]; lto=to; goto top }       /* answer lost, session lives on; or we died */
  fi;
#else
  atomic { owner == 0 -> owner = d+1 };                /* UPDATE ... WHERE pos = A: waits for whoever holds the row */
  if :: atomic { pos != A[d] -> owner = 0; goto top }  /* 0 rows: roll back, decide again */
     :: pos == A[d] -> skip fi;
  if
  :: atomic { apply(A[d], to); A[d] = to; owner = 0 }
  :: atomic { fl && !lh -> fl--; lh=1; lfrom=A[d]; lto=to; owner=9; goto top }
  fi;
#endif
  goto top;
out: skip }
init { atomic { run Late(); run W(0);
#ifdef TWIN
  run W(1)
#endif
  }; timeout -> assert(cnt[1]==1 && cnt[2]==1 /* lost */) }
