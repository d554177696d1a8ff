import assert from 'node:assert/strict'
import type { Ceiling } from '../../../src/core/capability/ceiling.ts'
import { type Need, type NeedAttributes, NO_ATTRIBUTES } from '../../../src/core/capability/need.ts'
import { parseRule } from '../../../src/core/capability/parse-rule.ts'
import type { Right } from '../../../src/core/capability/right.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { ruleOn, steadyRuling } from '../../../src/core/capability/rule-on.ts'
import type { RuleSet } from '../../../src/core/capability/rule-set.ts'
import type { Ruling } from '../../../src/core/capability/ruling.ts'
import type { RulingFacts } from '../../../src/core/capability/ruling-of-set.ts'
import type { Json } from '../../../src/core/json/json.ts'
import { isRefusal } from '../../../src/core/refusal.ts'

/** Monday, 16 November 2026, 12:00 UTC. */
export const NOON = Date.UTC(2026, 10, 16, 12)

/** The rule of a JSON text; its id is the resource unless it has one. */
export function rule(json: { readonly [field: string]: Json }): Rule {
  const parsed = parseRule(json, String(json['resource']))
  if (isRefusal(parsed)) throw new Error(parsed.message)
  return parsed
}

export function allow(resource: string, more: { readonly [field: string]: Json } = {}): Rule {
  return rule({ effect: 'allow', resource, ...more })
}

export function ask(resource: string, more: { readonly [field: string]: Json } = {}): Rule {
  return rule({ effect: 'ask', resource, ...more })
}

export function deny(resource: string, more: { readonly [field: string]: Json } = {}): Rule {
  return rule({ effect: 'deny', resource, ...more })
}

export function ruleSet(subject: string, rules: readonly Rule[], more: Partial<RuleSet> = {}): RuleSet {
  return { subject, rules, closed: false, source: null, trusted: true, ...more }
}

/** A need of a file of the workspace /w, or of an absolute path. */
export function file(right: Right, path: string | null, attributes: NeedAttributes = {}): Need {
  return { right, resource: { kind: 'fs', path, workspace: '/w' }, attributes }
}

export function tool(path: string, attributes: NeedAttributes = NO_ATTRIBUTES): Need {
  return { right: 'execute', resource: { kind: 'tool', path }, attributes }
}

/** A command of literal words; `$` stands for one that is not literal. */
export function command(line: string, attributes: NeedAttributes = {}): Need {
  const [written = '', ...words] = line.split(' ')
  const name = written.slice(written.lastIndexOf('/') + 1)
  return {
    right: 'execute',
    resource: {
      kind: 'shell',
      program: written.includes('/') ? { name, path: written } : { name },
      workspace: '/w',
    },
    attributes: {
      args: words.map((word) => (word === '$' ? null : word)),
      unknownOption: false,
      env: [],
      ...attributes,
    },
  }
}

export function factsAt(at: number, more: Partial<RulingFacts> = {}): RulingFacts {
  return { at, host: 'here', delegators: new Map(), used: new Map(), ...more }
}

/** The ruling of sets and ceilings at noon. */
export function rulingOf(
  need: Need,
  sets: readonly RuleSet[],
  ceilings: readonly Ceiling[] = [],
  facts: Partial<RulingFacts> = {},
): Ruling {
  const checked = factsAt(NOON, facts)
  const ruling = ruleOn(sets, ceilings, need, checked)
  // Where the ruling depends on nothing else, the short way to it gives the same.
  const steady = steadyRuling(sets, ceilings, [need], checked)
  if (steady !== undefined) assert.deepEqual(steady, ruling)
  return ruling
}

/** The type of the ruling of one set with these rules. */
export function effectOf(need: Need, ...rules: readonly Rule[]): Ruling['type'] {
  return rulingOf(need, [ruleSet('session:s', rules)]).type
}
