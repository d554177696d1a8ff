import { commandLineNeeds } from '../command/resolve-action.ts'
import { type NeedsOfCommandLine, refuseExamples } from '../core/capability/examples.ts'
import { subjectHere } from '../core/capability/folder-subjects.ts'
import { inWorkspace } from '../core/capability/in-workspace.ts'
import { parseRule } from '../core/capability/parse-rule.ts'
import { isPreset, presetRefusal } from '../core/capability/presets.ts'
import type { Rule } from '../core/capability/rule.ts'
import { type RuleSet, setsIn } from '../core/capability/rule-set.ts'
import type { Json } from '../core/json/json.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { delegateRule, revokeDelegated } from '../kernel/delegations.ts'
import { addRule, clearRules, removeRule, setPreset } from '../kernel/policies.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore, permitOrAudit } from './action.ts'
import { knownFiles } from './policy-files.ts'
import { holderOf, type RuleOwner, refuse, ruleOwner, shownRules, unlessRefused } from './rule-owners.ts'

const PAGE = 500

/** The rules about the effects of sessions and processes. */
export function policyActions(
  parts: ActionParts,
): ActionsFor<
  'policies' | 'addRule' | 'removeRule' | 'setPreset' | 'clearRules' | 'delegateRule' | 'revokeDelegated'
> {
  const { kernel, actor } = parts
  const { edges } = kernel
  const here = (subject: string) => subjectHere(subject, edges.machine ?? null)
  const shown = (subject: string, rule: Rule) =>
    shownRules(edges, { subject, trusted: true, rules: [rule] })[0]
  return {
    async policies() {
      permitOnStore(parts, 'admin')
      const rules: OutputOf<'policies'>['rules'] = []
      const files: RuleSet[] = []
      for (let after: string | null = null; ; ) {
        const sets: readonly RuleSet[] = await edges.store.ask({ ask: 'ruleSets', after, limit: PAGE })
        for (const set of sets.flatMap(setsIn)) rules.push(...shownRules(edges, set))
        files.push(...sets.filter(({ source }) => source !== null))
        after = sets.at(-1)?.subject ?? null
        if (sets.length < PAGE) return { rules, files: await knownFiles(edges, files) }
      }
    },
    async addRule({ to, rule: json }) {
      await permitOrAudit(parts, 'addRule')
      const owner = await ruleOwner(edges, to)
      const rule = await addRule(edges, actor, owner.subject, await ruleReader(json, owner))
      return firstOf(shown(owner.subject, unlessRefused(rule)))
    },
    async removeRule({ id, from }) {
      await permitOrAudit(parts, 'removeRule')
      const { subject } = await ruleOwner(edges, from)
      const { rule, answers } = unlessRefused(await removeRule(edges, actor, subject, id))
      const alsoRemoved = answers.map((one) => firstOf(shown(one.subject, one.rule)))
      return { ...firstOf(shown(subject, rule)), alsoRemoved }
    },
    async setPreset({ to, preset }) {
      await permitOrAudit(parts, 'setPreset')
      const named = preset === null || isPreset(preset) ? preset : refuse(presetRefusal(preset))
      const { subject, folder } = await ruleOwner(edges, to)
      const placed = (set: RuleSet) =>
        folder === null ? set : { ...set, rules: set.rules.map((rule) => inWorkspace(rule, folder)) }
      const set = unlessRefused(await setPreset(edges, actor, subject, named, placed))
      return { subject: here(subject), rules: shownRules(edges, set) }
    },
    async clearRules({ from }) {
      await permitOrAudit(parts, 'clearRules')
      const { subject } = await ruleOwner(edges, from)
      return {
        subject: here(subject),
        removed: unlessRefused(await clearRules(edges, actor, subject)).rules.length,
      }
    },
    async delegateRule({ from, to, rule: json }) {
      const owner = { subject: holderOf(to), folder: null }
      const ruleOf = await ruleReader(json, owner)
      const asked = { actor, from: from === undefined ? null : holderOf(from), to: owner.subject, ruleOf }
      return firstOf(shown(owner.subject, unlessRefused(await delegateRule(edges, asked))))
    },
    async revokeDelegated({ id, to }) {
      const subject = holderOf(to)
      return firstOf(shown(subject, unlessRefused(await revokeDelegated(edges, actor, subject, id))))
    },
  }
}

/** Parses a rule and verifies its examples, once its id is known. The parser of command lines is loaded only for rules with examples. */
async function ruleReader(json: Json, { folder }: RuleOwner): Promise<(id: string) => Rule | Refusal> {
  const first = parseRule(json, 'r')
  const hasLines =
    !isRefusal(first) &&
    first.resource.startsWith('shell:') &&
    (first.match !== undefined || first.nonmatch !== undefined)
  const needs: NeedsOfCommandLine = hasLines ? await commandLineNeeds() : () => []
  return (id) => {
    const rule = parseRule(json, id)
    if (isRefusal(rule)) return rule
    const wrong = refuseExamples(rule, needs)
    return wrong ?? (folder === null ? rule : inWorkspace(rule, folder))
  }
}

function firstOf<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('A rule without a text')
  return value
}
