import type { DatabaseSync } from 'node:sqlite'
import type { RuleSet } from '../../../core/capability/rule-set.ts'
import type { RuleUse } from '../../../core/capability/rule-use.ts'
import type { Questions } from '../../contract.ts'
import { getRow } from '../rows.ts'

export type AuthorityStatements = ReturnType<typeof authorityStatements>

/** Rule sets, the epoch that they are valid for, and the uses of their rules. */
export function authorityStatements(db: DatabaseSync) {
  const epoch = db.prepare('select authority_epoch as epoch from meta')
  const putEpoch = db.prepare('update meta set authority_epoch = ? where id = 1')
  const ruleSet = db.prepare('select body from rule_set where subject = ?')
  const ruleSets = db.prepare('select body from rule_set where subject > ? order by subject limit ?')
  const putRuleSet = db.prepare(
    'insert into rule_set values (?, ?) on conflict (subject) do update set body = excluded.body',
  )
  const dropRuleSets = db.prepare(
    'delete from rule_set where subject in (select value from json_each(?)) returning subject',
  )
  const ruleUse = db.prepare('select id, subject, used from rule_use where id = ?')
  const putRuleUse = db.prepare(
    'insert into rule_use values (?, ?, ?) on conflict (id) do update set subject = excluded.subject, used = excluded.used',
  )
  const dropRuleUse = db.prepare('delete from rule_use where id = ?')
  const dropUsesOf = db.prepare('delete from rule_use where subject in (select value from json_each(?))')

  return {
    epoch: (): number => Number(epoch.get()?.['epoch']),
    putEpoch: (value: number) => putEpoch.run(value),
    ruleSet(subject: string): RuleSet | null {
      const found = ruleSet.get(subject)
      return found === undefined ? null : ruleSetFrom(found)
    },
    ruleSets: ({ after, limit }: Questions['ruleSets'][0]): RuleSet[] =>
      ruleSets.all(after ?? '', limit).map(ruleSetFrom),
    putRuleSet: (value: RuleSet) => putRuleSet.run(value.subject, JSON.stringify(value)),
    /** With the uses of their rules. Returns the subjects that had a rule set. */
    dropRuleSets(subjects: readonly string[]): string[] {
      const list = JSON.stringify(subjects)
      dropUsesOf.run(list)
      return dropRuleSets.all(list).map(({ subject }) => String(subject))
    },
    ruleUse(id: string): RuleUse | null {
      const found = getRow<RuleUse>(ruleUse, id)
      return found === undefined ? null : { ...found }
    },
    putRuleUse: ({ id, subject, used }: RuleUse) => putRuleUse.run(id, subject, used),
    dropRuleUse: (id: string) => dropRuleUse.run(id),
  }
}

function ruleSetFrom(found: Record<string, unknown>): RuleSet {
  return JSON.parse(String(found['body'])) as RuleSet
}
