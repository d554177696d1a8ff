import { type Machine, subjectHere } from '../core/capability/folder-subjects.ts'
import { parseNeed } from '../core/capability/parse-need.ts'
import type { Ruling } from '../core/capability/ruling.ts'
import type { Actor } from '../core/process/record.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { type Explanation, explainEffect } from '../kernel/explain.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore } from './action.ts'
import { holderOf, refuse, unlessRefused } from './rule-owners.ts'

/** A session that has no rules of its own, so that those of the home and of the folder are left. No session can have this name. */
const ANY_SESSION: Actor = 'session:'

export function explainActions(parts: ActionParts): ActionsFor<'explainRules'> {
  const { kernel } = parts
  const { machine = null } = kernel.edges
  return {
    async explainRules({ subject, what, cwd }) {
      permitOnStore(parts, 'admin')
      const actor = subject === undefined ? ANY_SESSION : holderOf(subject)
      if (what.type === 'resource') {
        const need = parseNeed(what.resource)
        if (need === null) return refuse(noResource(what.resource))
        return shown(
          unlessRefused(await explainEffect(kernel.edges, need, { actor, cwd: cwd ?? null })),
          machine,
        )
      }
      return shown(unlessRefused(await kernel.explain(requestOf(what, subject, cwd), { actor })), machine)
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

function shown({ ruling, doubt, needs, sets }: Explanation, machine: Machine): OutputOf<'explainRules'> {
  const here = <Named extends { readonly subject: string }>(named: Named) => ({
    ...named,
    subject: subjectHere(named.subject, machine),
  })
  const rulingOf = (one: Ruling): OutputOf<'explainRules'>['ruling'] => {
    const reason = one.type === 'deny' ? one.reason : one.type === 'ask' ? one.justification : null
    return { type: one.type, rule: one.rule === null ? null : here(one.rule), reason }
  }
  return {
    ruling: rulingOf(ruling),
    ...(doubt === null ? {} : { doubt }),
    needs: needs.map((need) => ({ ...need, ruling: rulingOf(need.ruling), rules: need.rules.map(here) })),
    sets: sets.map(({ subject, closed, trusted }) => here({ subject, closed, trusted })),
  }
}

function noResource(text: string): Refusal {
  return refusal(
    'invalid_input',
    `${JSON.stringify(text)} names no single resource.`,
    'Write a resource without wildcards, as in write fs:src/main.ts, or give a command.',
    { field: 'what' },
  )
}
