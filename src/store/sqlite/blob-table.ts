import type { DatabaseSync } from 'node:sqlite'
import { ByteBudget } from '../byte-budget.ts'
import { closedError } from '../group-commit.ts'
import type { BlobPage, BlobPart, BlobTable } from '../stored-blobs.ts'
import { blobStatements } from './statements/blob.ts'
import { toStoreError } from './store-errors.ts'

export interface SqliteBlobTableOptions {
  readonly db: DatabaseSync
  readonly file: string
  readonly now: () => number
  /** Runs a task in the next transaction. */
  readonly run: <Answer>(task: () => Answer) => Promise<Answer>
  readonly isClosed: () => boolean
}

/** One transaction writes about this much, and the parts beyond it wait for the next: the plans in it wait for its flush. */
const MAX_TRANSACTION_BYTES = 2 * 1024 * 1024

/**
 * The blobs in the file of the store, not in a folder beside it: a backup has them, and no crash leaves a file without a row or a
 * row without a file.
 */
export class SqliteBlobTable implements BlobTable {
  readonly #options: SqliteBlobTableOptions
  readonly #budget = new ByteBudget(MAX_TRANSACTION_BYTES)
  #prepared: ReturnType<typeof blobStatements> | undefined

  constructor(options: SqliteBlobTableOptions) {
    this.#options = options
  }

  renew(hash: string): Promise<boolean> {
    const { now, run } = this.#options
    return run(() => this.#statements.renew(hash, now()))
  }

  putPart(part: BlobPart): Promise<boolean> {
    const { now, run } = this.#options
    return this.#budget.run(part.bytes.length, () => run(() => this.#statements.putPart(part, now())))
  }

  async sizeOf(hash: string): Promise<number | null> {
    return this.#read(() => this.#statements.size(hash))
  }

  async part(hash: string, number: number): Promise<Uint8Array | null> {
    return this.#read(() => this.#statements.part(hash, number))
  }

  async before(ageMs: number): Promise<number> {
    return this.#options.now() - ageMs
  }

  sweepPage(page: BlobPage): ReturnType<BlobTable['sweepPage']> {
    return this.#options.run(() => this.#statements.sweepPage(page))
  }

  /** Prepared at the first use: most programs have no blobs. */
  get #statements(): ReturnType<typeof blobStatements> {
    this.#prepared ??= blobStatements(this.#options.db)
    return this.#prepared
  }

  #read<Answer>(read: () => Answer): Answer {
    if (this.#options.isClosed()) throw closedError()
    try {
      return read()
    } catch (error) {
      throw toStoreError(error, this.#options.file)
    }
  }
}
