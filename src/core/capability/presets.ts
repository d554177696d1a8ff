import { didYouMean } from '../../base/nearest-name.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { invalidRule } from './invalid-rule.ts'
import { RESOURCE_KINDS, type ResourceKind } from './resource.ts'
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

/** Everything that an effect does. The right to grant, to approve or to administer is never part of a preset. */
const EFFECTS: readonly Right[] = ['read', 'write', 'execute', 'delete', 'signal']
const CHANGES: readonly Right[] = ['write', 'execute', 'delete', 'signal']

/** Secrets and hosts are not for reading along. */
const NOT_OBSERVED: readonly ResourceKind[] = ['fs', 'shell', 'net', 'secret']

/** Reads of the workspace and of Reeve; models and questions to people, without which an agent cannot work. */
const OBSERVE: readonly PresetRule[] = [
  { effect: 'allow', rights: ['read'], resource: 'fs:**' },
  ...RESOURCE_KINDS.filter((kind) => !NOT_OBSERVED.includes(kind)).map(
    (kind): PresetRule => ({ effect: 'allow', rights: ['read'], resource: `${kind}:**` }),
  ),
  { effect: 'allow', rights: ['execute'], resource: 'model:**' },
  { effect: 'allow', rights: ['write'], resource: 'human:**' },
]

/** A person may be asked for every change, and for every read that is not observed. */
const REQUESTS = RESOURCE_KINDS.map(
  (kind): PresetRule => ({
    effect: 'ask',
    requestable: true,
    rights: NOT_OBSERVED.includes(kind) ? EFFECTS : CHANGES,
    resource: everythingOf(kind),
  }),
)

const ASK: readonly PresetRule[] = [...OBSERVE, ...REQUESTS]

/** Files in these folders run later, outside of every rule. */
const RUN_LATER = ['fs:.git/**', 'fs:.reeve/**']

const EDIT: readonly PresetRule[] = [
  ...ASK,
  { effect: 'allow', rights: ['write', 'delete'], resource: 'fs:**' },
  ...RUN_LATER.map(
    (resource): PresetRule => ({
      effect: 'ask',
      rights: ['write', 'delete'],
      resource,
      justification: 'What is written here may run later, without being asked for.',
    }),
  ),
]

const FULL = RESOURCE_KINDS.map(
  (kind): PresetRule => ({ effect: 'allow', rights: EFFECTS, resource: everythingOf(kind) }),
)

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
