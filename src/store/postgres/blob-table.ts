import { closedError } from '../group-commit.ts'
import type { BlobPage, BlobPart, BlobTable } from '../stored-blobs.ts'
import type { Link } from './link.ts'
import { blobStatements } from './statements/blob.ts'
import { toStoreError } from './store-errors.ts'

export interface PostgresBlobTableOptions {
  /** The quoted schema with a dot. */
  readonly at: string
  /** The name of the database in messages. */
  readonly where: string
  readonly isClosed: () => boolean
}

/** Every statement may run twice, so all of them are retried. They share the connections of reads: a large blob delays no commit. */
export class PostgresBlobTable implements BlobTable {
  readonly #link: Link
  readonly #options: PostgresBlobTableOptions
  readonly #statements: ReturnType<typeof blobStatements>

  constructor(link: Link, options: PostgresBlobTableOptions) {
    this.#link = link
    this.#options = options
    this.#statements = blobStatements(link, options.at)
  }

  renew(hash: string): Promise<boolean> {
    return this.#reach(() => this.#statements.renew(hash))
  }

  putPart(part: BlobPart): Promise<boolean> {
    return this.#reach(() => this.#statements.putPart(part))
  }

  sizeOf(hash: string): Promise<number | null> {
    return this.#reach(() => this.#statements.size(hash))
  }

  part(hash: string, number: number): Promise<Uint8Array | null> {
    return this.#reach(() => this.#statements.part(hash, number))
  }

  before(ageMs: number): Promise<number> {
    return this.#reach(() => this.#statements.before(ageMs))
  }

  sweepPage(page: BlobPage): ReturnType<BlobTable['sweepPage']> {
    return this.#reach(() => this.#statements.sweepPage(page))
  }

  async #reach<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
    const { where, isClosed } = this.#options
    if (isClosed()) throw closedError()
    try {
      return await this.#link.reach(attempt)
    } catch (error) {
      throw isClosed() ? closedError() : toStoreError(error, where)
    }
  }
}
