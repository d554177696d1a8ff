import type { RuleSet } from '../../src/core/capability/rule-set.ts'
import type { Store } from '../../src/store/contract.ts'

/** As many as a session has that was given a preset and answers of its own. */
export const RULES_PER_SESSION = 100

/** A closed set of this many rules. It allows the work of the measurements, and nothing else that they do. */
export function ruleSetOf(subject: string, count: number): RuleSet {
  const needed = ['tool:unit', 'workflow:work'].map((resource, index) => rule(`needed-${index}`, resource))
  const others = Array.from({ length: Math.max(0, count - needed.length) }, (_, index) =>
    rule(`other-${index}`, OTHERS[index % OTHERS.length]?.(index) ?? ''),
  )
  return { subject, rules: [...others, ...needed], closed: true, source: null, trusted: true }
}

const OTHERS: readonly ((index: number) => string)[] = [
  (index) => `tool:other-${index}`,
  (index) => `shell:program-${index}`,
  (index) => `fs:folder-${index}/**`,
  (index) => `net:host-${index}.example.com`,
]

function rule(id: string, resource: string) {
  return { id, effect: 'allow', rights: ['read', 'write', 'execute'], resource } as const
}

/** Stores rule sets of subjects that had none. */
export async function storeRuleSets(store: Store, sets: readonly RuleSet[]): Promise<void> {
  for (const ruleSet of sets)
    await store.write(function* () {
      yield []
      return { answer: undefined, changes: [{ type: 'rule_set', was: null, ruleSet }] }
    })
}
