import { linkTexts } from '../../../core/audit/link.ts'
import { subjectsOf } from '../../../core/tool/written-tool.ts'
import type { Value } from '../link.ts'
import type { Staged } from '../staged.ts'
import { filledText, removed, versioned } from './commit-parts.ts'
import { packed } from './commit-values.ts'

/** The parts of a commit for apply_authority, as JSON; null if there are none. */
export function authorityText(staged: Staged): string | null {
  const { ruleSets, ruleUses, approvals, auditWindows, auditStart, tombstones } = staged
  return filledText({
    rule_sets: [...ruleSets].flatMap(([subject, { value }]) =>
      value === null ? [] : [{ subject, body: JSON.stringify(value) }],
    ),
    subjects_gone: [...goneSubjects(staged), ...[...tombstones.keys()].flatMap(subjectsOf)],
    rule_uses: versioned(ruleUses, ({ id, subject, used }) => ({ id, subject, used })),
    rule_uses_gone: removed(ruleUses).map(({ id }) => id),
    approvals: versioned(approvals, ({ id, pid, state, person, expiresAt, pushAt, reviewUntil, request }) => {
      const due = { expires_at: expiresAt, push_at: pushAt, review_until: reviewUntil ?? null }
      return { id, pid, state, person, priority: request.priority, ...due }
    }),
    windows: versioned(auditWindows, ({ key, openedAt }) => ({ key, opened_at: openedAt })),
    windows_gone: removed(auditWindows).map(({ key }) => key),
    audit_starts:
      auditStart === null ? [] : [{ position: auditStart.position, body: JSON.stringify(auditStart) }],
  })
}

/** The subjects whose rule sets are removed by themselves or with their session. Those of pruned processes follow from these. */
export function goneSubjects({ ruleSets, goneSessions }: Staged): string[] {
  return [
    ...removed(ruleSets).map(({ subject }) => subject),
    ...[...goneSessions].map((id) => `session:${id}`),
  ]
}

/** The links for append_audit. */
export function auditCells({ audit }: Staged): Value[] {
  if (audit.length === 0) return [null, null, null]
  const links = linkTexts(audit)
  return [links.map(({ at }) => at), links.map(({ count }) => count), packed(links.map(({ text }) => text))]
}
