import type { Holder, HolderRow } from '../../../core/lease/holder.ts'
import type { Link } from '../link.ts'

interface Columns {
  readonly body: string
  readonly renewed_at: number
  readonly expired: number
}

/** The server decides which holders are expired: its clock is the one that all hosts share. */
export function holderStatements(link: Link, at: string) {
  const select = `select body, renewed_at, (expires_at <= ${at}now_ms())::int as expired from ${at}holder`

  return {
    read: async (ids: readonly string[]): Promise<HolderRow[]> =>
      (await link.query<Columns>(`${select} where id = any ($1)`, [ids])).map(holderRow),
    announced: async (ids: readonly string[]): Promise<string[]> =>
      (await link.query<{ id: string }>(`select id from ${at}holder where id = any ($1)`, [ids])).map(
        ({ id }) => id,
      ),
    /** Uses the index of held processes. */
    unannounced: async (): Promise<string[]> =>
      (
        await link.query<{
          holder: string
        }>(`select distinct holder from ${at}process p where holder is not null
          and not exists (select from ${at}holder h where h.id = p.holder)`)
      ).map(({ holder }) => holder),
    all: async (): Promise<HolderRow[]> =>
      (await link.query<Columns>(`${select} order by id`)).map(holderRow),
  }
}

function holderRow({ body, renewed_at, expired }: Columns): HolderRow {
  return { ...(JSON.parse(body) as Holder), renewedAt: renewed_at, expired: expired === 1 }
}
