import { isRefusal } from '../refusal.ts'
import type { Need } from './need.ts'
import { parseResource } from './resource.ts'
import type { RuleSet } from './rule-set.ts'
import { type CheckedAt, matching, tableOf } from './rule-table.ts'

/**
 * Whether an allow of these sets names the resource of a need itself, and not by a wildcard for all hosts or all files. A
 * resource that is refused by default, such as an address of the internal network, needs such a rule. With `byPort` a rule for every port of a host does
 * not name the port.
 */
export function isNamed(
  sets: readonly Pick<RuleSet, 'rules' | 'trusted'>[],
  need: Need,
  when: CheckedAt,
  byPort = false,
): boolean {
  return sets.some(
    ({ rules, trusted }) =>
      trusted &&
      matching(tableOf(rules), need, when).some(
        ({ rule, match }) => rule.effect === 'allow' && match === 'yes' && isSpecific(rule.resource, byPort),
      ),
  )
}

function isSpecific(resource: string, byPort: boolean): boolean {
  const pattern = parseResource(resource)
  if (isRefusal(pattern)) return false
  if (pattern.kind === 'net') return !pattern.host.startsWith('*') && !(byPort && pattern.port === null)
  if (pattern.kind === 'fs') return !pattern.path.deep || pattern.path.segments.some((one) => one !== '*')
  return true
}
