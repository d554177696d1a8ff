import { analyseCommandLine } from '../command/resolve-action.ts'
import { refuseExamples } from '../core/capability/examples.ts'
import { needsOf } from '../core/capability/needs.ts'
import { parseRule } from '../core/capability/parse-rule.ts'
import { type Rule, ruleText } from '../core/capability/rule.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import { RefusedError } from '../core/errors.ts'
import { asJson } from '../core/json/json.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { sessionEnded, sessionUnknown } from '../core/session/session.ts'
import { addRule, removeRule } from '../kernel/policies.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore } from './action.ts'

const PAGE = 500

/** The rules about the effects of sessions and processes. */
export function policyActions(parts: ActionParts): ActionsFor<'policies' | 'addRule' | 'removeRule'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  return {
    async policies() {
      permitOnStore(parts, 'admin')
      const rules: OutputOf<'policies'>['rules'] = []
      for (let after: string | null = null; ; ) {
        const sets: readonly RuleSet[] = await edges.store.ask({ ask: 'ruleSets', after, limit: PAGE })
        for (const { subject, rules: own } of sets) rules.push(...own.map((rule) => shown(subject, rule)))
        after = sets.at(-1)?.subject ?? null
        if (sets.length < PAGE) return { rules }
      }
    },
    async addRule({ to, rule: json }) {
      permitOnStore(parts, 'admin')
      if (to.type === 'session') await checkSession(parts, to.session)
      const subject = subjectOf(to)
      const needs = await needsOfLines(parseRule(json, 'r'))
      return shown(
        subject,
        kept(await addRule(edges, actor, subject, (id) => checked(parseRule(json, id), needs))),
      )
    },
    async removeRule({ id, from }) {
      permitOnStore(parts, 'admin')
      const subject = subjectOf(from)
      return shown(subject, kept(await removeRule(edges, actor, subject, id)))
    },
  }
}

type NeedsOfLines = Awaited<ReturnType<typeof needsOfLines>>

/** The needs of the command lines in the examples of a rule. The parser is loaded only for rules that have some. */
async function needsOfLines(rule: Rule | Refusal) {
  const lines =
    isRefusal(rule) || !rule.resource.startsWith('shell:')
      ? []
      : [...(rule.match ?? []), ...(rule.nonmatch ?? [])]
  const facts = { programs: new Map(), cwd: null, workspace: null, env: [], codeVariables: [], secrets: [] }
  const found = await Promise.all(
    lines.map(async (line) => {
      const shell = await analyseCommandLine(line)
      return [line, needsOf({ kind: 'command', spec: { run: line } }, { ...facts, shell })] as const
    }),
  )
  const known = new Map(found)
  return (line: string) => known.get(line) ?? []
}

function checked(rule: Rule | Refusal, needs: NeedsOfLines): Rule | Refusal {
  if (isRefusal(rule)) return rule
  return refuseExamples(rule, needs) ?? rule
}

function kept(rule: Rule | Refusal): Rule {
  if (isRefusal(rule)) throw new RefusedError(rule)
  return rule
}

function shown(subject: string, rule: Rule): OutputOf<'addRule'> {
  return { subject, id: rule.id, text: ruleText(rule), rule: asJson(rule) }
}

function subjectOf(to: ParsedInputOf<'addRule'>['to']): string {
  return to.type === 'home' ? 'home' : `session:${to.session}`
}

async function checkSession({ kernel }: ActionParts, id: string): Promise<void> {
  const session = await kernel.edges.store.ask({ ask: 'session', id })
  if (session === null) throw new RefusedError(sessionUnknown(id))
  if (session.endedAt !== null) throw new RefusedError(sessionEnded(session))
}
