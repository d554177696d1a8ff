import type { Link } from '../link.ts'

export function metaStatements(link: Link, at: string) {
  return {
    position: async (): Promise<number> =>
      (await link.query<{ position: number }>(`select position from ${at}meta`))[0]?.position ?? 0,
    /** The position after the commits that are under way; later commits know that `store` listens. */
    stay: async (store: string): Promise<number> =>
      (await link.query<{ position: number }>(`select ${at}stay($1) as position`, [store]))[0]?.position ?? 0,
    secret: async (): Promise<string> =>
      (await link.query<{ secret: string }>(`select secret from ${at}meta`))[0]?.secret ?? '',
  }
}
