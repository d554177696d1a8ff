import type { Transaction } from '../src/store/group-commit.ts'

/** The error code of SQLite for a full disk. */
export const DISK_FULL = 13

/** A transaction of SQLite that fails as the faults say, for as long as they do: for `wrap` of `openSqlite`. */
export function failing(
  inner: Transaction,
  faults: { at?: 'apply' | 'commit' },
  errcode: number,
): Transaction {
  const failAt = (point: 'apply' | 'commit') => {
    if (faults.at === point) throw Object.assign(new Error(`errcode ${errcode}`), { errcode })
  }
  return {
    begin: () => inner.begin(),
    answer: (question) => inner.answer(question),
    apply: (change) => {
      failAt('apply')
      inner.apply(change)
    },
    commit: () => {
      failAt('commit')
      return inner.commit()
    },
    rollback: () => inner.rollback(),
    isBusy: (error) => inner.isBusy(error),
    isPlanFault: (error) => inner.isPlanFault(error),
    toStoreError: (error, committing) => inner.toStoreError(error, committing),
  }
}
