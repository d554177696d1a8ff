import { parseNeed } from '../core/capability/parse-need.ts'
import type { Ruling } from '../core/capability/ruling.ts'
import type { Actor } from '../core/process/record.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { type Explanation, explainEffect } from '../kernel/explain.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore } from './action.ts'
import { holderOf, kept, refuse } from './rule-owners.ts'

/** A session that has no rules of its own, so that those of the home and of the folder are left. No session can have this name. */
const ANY_SESSION: Actor = 'session:'

export function explainActions(parts: ActionParts): ActionsFor<'explainRules'> {
  const { kernel } = parts
  return {
    async explainRules({ subject, what, cwd }) {
      permitOnStore(parts, 'admin')
      const actor = subject === undefined ? ANY_SESSION : holderOf(subject)
      if (what.type === 'resource') {
        const need = parseNeed(what.resource)
        if (need === null) return refuse(noResource(what.resource))
        return shown(kept(await explainEffect(kernel.edges, need, { actor, cwd: cwd ?? null })))
      }
      return shown(kept(await kernel.explain(requestOf(what, subject, cwd), { actor })))
    },
  }
}

type Input = ParsedInputOf<'explainRules'>

function requestOf(
  what: Input['what'],
  subject: Input['subject'],
  cwd: string | undefined,
): RegistrationRequest {
  const where = {
    ...(cwd === undefined ? { defaultCwd: process.cwd() } : { cwd }),
    ...(subject?.type === 'session' ? { owner: { session: subject.session } } : {}),
    ...(subject?.type === 'process' ? { parent: subject.pid } : {}),
  }
  switch (what.type) {
    case 'tool':
      return { kind: 'tool', spec: { tool: what.tool }, ...where }
    case 'argv':
      return { kind: 'command', spec: { argv: what.argv }, ...where }
    default:
      return { kind: 'command', spec: { run: what.type === 'run' ? what.run : '' }, ...where }
  }
}

function shown({ ruling, needs, sets }: Explanation): OutputOf<'explainRules'> {
  return {
    ruling: rulingOf(ruling),
    needs: needs.map((need) => ({ ...need, ruling: rulingOf(need.ruling), rules: [...need.rules] })),
    sets: sets.map(({ subject, closed, trusted }) => ({ subject, closed, trusted })),
  }
}

function rulingOf(ruling: Ruling): OutputOf<'explainRules'>['ruling'] {
  const { type, rule } = ruling
  const reason = ruling.type === 'deny' ? ruling.reason : ruling.type === 'ask' ? ruling.justification : null
  return { type, rule, reason }
}

function noResource(text: string): Refusal {
  return refusal(
    'invalid_input',
    `${JSON.stringify(text)} names no single resource.`,
    'Write a resource without wildcards, as in write fs:src/main.ts, or give a command.',
    { field: 'what' },
  )
}
