import { didYouMean } from '../../base/nearest-name.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { invalidRule } from './invalid-rule.ts'
import { RESOURCE_KINDS, type ResourceKind, rightsOf } from './resource.ts'
import type { Right } from './right.ts'
import type { Rule } from './rule.ts'
import type { RuleSet } from './rule-set.ts'

/** Each allows what those before it allow, and more. */
export const PRESETS = ['observe', 'ask', 'edit', 'full'] as const
export type Preset = (typeof PRESETS)[number]

/** The rules of a preset. Each closes its set. */
export function presetRules(name: string): readonly Rule[] | Refusal {
  return isPreset(name) ? rulesOfPreset(name) : presetRefusal(name)
}

/** The refusal of a name that is no preset. */
export function presetRefusal(name: string): Refusal {
  if (name === 'sandboxed')
    return refusal(
      'not_available',
      'The preset sandboxed needs a sandbox, and this version of Reeve has none.',
      'Use edit, which asks before every command.',
    )
  return invalidRule(
    `There is no preset ${JSON.stringify(name)}.${didYouMean(name, PRESETS)}`,
    `Use ${PRESETS.join(', ')}.`,
  )
}

export function rulesOfPreset(name: Preset): readonly Rule[] {
  return LISTS[name].map((rule, index) => ({ ...rule, id: `${name}-${index + 1}`, preset: name }))
}

type PresetRule = Omit<Rule, 'id' | 'preset'>

/** The right to approve is never part of a preset, and neither is a right to what others own. */
const EFFECTS: readonly Right[] = ['read', 'write', 'execute']
const CHANGES: readonly Right[] = ['write', 'execute']
const OF_OTHERS: readonly ResourceKind[] = ['process', 'session', 'object']

/** Secrets and hosts are not for reading along. */
const NOT_OBSERVED: readonly ResourceKind[] = ['fs', 'shell', 'net', 'secret']

/** A rule about these rights for each kind that has any of them. */
function forKinds(
  effect: Pick<PresetRule, 'effect' | 'requestable'>,
  wanted: (kind: ResourceKind) => readonly Right[],
  resource: (kind: ResourceKind) => string,
): readonly PresetRule[] {
  return RESOURCE_KINDS.filter((kind) => !OF_OTHERS.includes(kind)).flatMap((kind) => {
    const rights = wanted(kind).filter((right) => rightsOf(kind).includes(right))
    return rights.length === 0 ? [] : [{ ...effect, rights, resource: resource(kind) }]
  })
}

/** Reads of the workspace and of Reeve; models and questions to people, without which an agent cannot work. */
const OBSERVE: readonly PresetRule[] = [
  { effect: 'allow', rights: ['read'], resource: 'fs:**' },
  ...forKinds(
    { effect: 'allow' },
    (kind) => (NOT_OBSERVED.includes(kind) ? [] : ['read']),
    (kind) => `${kind}:**`,
  ),
  { effect: 'allow', rights: ['execute'], resource: 'model:**' },
  { effect: 'allow', rights: ['write'], resource: 'human:**' },
]

/** A person may be asked for every change, and for every read that is not observed. */
const REQUESTS = forKinds(
  { effect: 'ask', requestable: true },
  (kind) => (NOT_OBSERVED.includes(kind) ? EFFECTS : CHANGES),
  everythingOf,
)

const ASK: readonly PresetRule[] = [...OBSERVE, ...REQUESTS]

/** Files in these folders run later, outside of every rule. */
const RUN_LATER = ['fs:.git/**', 'fs:.reeve/**']

const EDIT: readonly PresetRule[] = [
  ...ASK,
  { effect: 'allow', rights: ['write'], resource: 'fs:**' },
  ...RUN_LATER.map(
    (resource): PresetRule => ({
      effect: 'ask',
      rights: ['write'],
      resource,
      justification: 'What is written here may run later, without being asked for.',
    }),
  ),
]

const FULL = forKinds({ effect: 'allow' }, () => EFFECTS, everythingOf)

const LISTS: { readonly [preset in Preset]: readonly PresetRule[] } = {
  observe: OBSERVE,
  ask: ASK,
  edit: EDIT,
  full: FULL,
}

/** `shell:sh` is every command, also one that cannot be analysed; `fs:/**` every file, also outside of the workspace. */
function everythingOf(kind: ResourceKind): string {
  return kind === 'shell' ? 'shell:sh' : kind === 'fs' ? 'fs:/**' : `${kind}:**`
}

/** Whether a preset allows more than another one. */
export function isWiderPreset(preset: Preset, than: Preset): boolean {
  return PRESETS.indexOf(preset) > PRESETS.indexOf(than)
}

/** The preset whose rules a set has. */
export function presetIn(set: RuleSet | null): Preset | undefined {
  const names = new Set(set?.rules.map(({ preset }) => preset))
  return PRESETS.findLast((preset) => names.has(preset))
}

export function isPreset(name: string): name is Preset {
  return PRESETS.some((preset) => preset === name)
}
