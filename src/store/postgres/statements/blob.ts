import type { BlobPage, BlobPart } from '../../stored-blobs.ts'
import type { Link } from '../link.ts'

export function blobStatements(link: Link, at: string) {
  const renew = `update ${at}blob set put_at = ${at}now_ms() where hash = $1 and size is not null returning hash`
  const putPart = `select ${at}put_blob_part($1, $2, $3, $4) as stored`
  const size = `select size from ${at}blob where hash = $1`
  const part = `select bytes from ${at}blob_part where hash = $1 and number = $2`
  const before = `select ${at}now_ms() - $1::bigint as before`
  const sweep = `select deleted, last_at, last_hash from ${at}sweep_blobs($1, $2, $3, $4, $5)`

  return {
    renew: async (hash: string): Promise<boolean> => (await link.query(renew, [hash])).length > 0,

    async putPart({ hash, number, bytes, sizeOfWhole }: BlobPart): Promise<boolean> {
      const [found] = await link.query<{ stored: boolean }>(putPart, [hash, number, bytes, sizeOfWhole])
      return found?.stored === true
    },

    async size(hash: string): Promise<number | null> {
      const [found] = await link.query<{ size: number | null }>(size, [hash])
      return found?.size ?? null
    },

    async part(hash: string, number: number): Promise<Uint8Array | null> {
      const [found] = await link.query<{ bytes: Uint8Array }>(part, [hash, number])
      return found?.bytes ?? null
    },

    async before(ageMs: number): Promise<number> {
      const [found] = await link.query<{ before: number }>(before, [ageMs])
      if (found === undefined) throw new Error('now_ms() returned no row')
      return found.before
    },

    async sweepPage({ after, before, limit, bytes }: BlobPage) {
      const values = [after.putAt, after.hash, before, limit, bytes]
      const [found] = await link.query<{
        deleted: number
        last_at: number | null
        last_hash: string | null
      }>(sweep, values)
      if (found === undefined) throw new Error('sweep_blobs() returned no row')
      const { deleted, last_at: putAt, last_hash: hash } = found
      return { deleted, last: putAt === null || hash === null ? null : { putAt, hash } }
    },
  }
}
