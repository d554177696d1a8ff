import type { RuleSet } from '../../../core/capability/rule-set.ts'
import type { RuleUse } from '../../../core/capability/rule-use.ts'
import type { Questions } from '../../contract.ts'
import type { Link } from '../link.ts'
import { bodies, type Versioned } from './bodies.ts'

/** Rule sets, the epoch that they are valid for, and the uses of their rules. */
export function authorityStatements(link: Link, at: string) {
  return {
    epoch: async (): Promise<number> =>
      (await link.query<{ epoch: number }>(`select authority_epoch as epoch from ${at}meta`))[0]?.epoch ?? 0,
    /** One statement, so that the rule sets are those of the epoch. */
    async ruleSetsOf(subjects: readonly string[]) {
      const found = await link.query<{ epoch: number; subject: string | null; body: string | null }>(
        `select m.authority_epoch as epoch, r.subject, r.body
          from ${at}meta m left join ${at}rule_set r on r.subject = any ($1)`,
        [subjects],
      )
      const bySubject = new Map<string, RuleSet>()
      for (const { subject, body } of found)
        if (subject !== null && body !== null) bySubject.set(subject, JSON.parse(body) as RuleSet)
      return { epoch: found[0]?.epoch ?? 0, bySubject }
    },
    ruleSets: ({ after, limit }: Questions['ruleSets'][0]) =>
      bodies<RuleSet>(link, `select body from ${at}rule_set where subject > $1 order by subject limit $2`, [
        after ?? '',
        limit,
      ]),
    async ruleUsesOf(ids: readonly string[]): Promise<Versioned<RuleUse>[]> {
      const found = await link.query<RuleUse & { version: number }>(
        `select version, id, subject, used from ${at}rule_use where id = any ($1)`,
        [ids],
      )
      return found.map(({ version, ...value }) => ({ version, value }))
    },
  }
}
