import { isWiderPreset, type Preset, presetIn } from '../capability/presets.ts'
import { binds, type RuleSet } from '../capability/rule-set.ts'
import { type Refusal, refusal } from '../refusal.ts'

export interface SessionPresetFacts {
  readonly isNew: boolean
  /** The rules of the session. */
  readonly rules: RuleSet | null
  /** The preset that every new session gets. */
  readonly byDefault: Preset | undefined
  /** Whether the actor may give rules to the session. */
  readonly mayGiveRules: boolean
}

/**
 * The preset that a session gets when it is opened; null: its rules stay as they are. A session may narrow itself, so it chooses any
 * preset that allows nothing more than its rules do now. A wider one is for actors that may give rules.
 */
export function presetOnOpening(
  session: string,
  asked: Preset | undefined,
  { isNew, rules, byDefault, mayGiveRules }: SessionPresetFacts,
): Preset | null | Refusal {
  if (asked === undefined) return (isNew ? byDefault : undefined) ?? null
  if (isNew) {
    const isWidened = byDefault !== undefined && isWiderPreset(asked, byDefault)
    return isWidened && !mayGiveRules ? tooWide(session, asked, `begins with the preset ${byDefault}`) : asked
  }
  const current = presetIn(rules)
  if (current !== undefined)
    return isWiderPreset(current, asked) ? otherPreset(session, current, asked) : null
  return binds(rules) && !mayGiveRules ? tooWide(session, asked, 'has rules') : asked
}

function tooWide(session: string, asked: Preset, why: string): Refusal {
  return refusal(
    'denied',
    `The session ${session} ${why}, and the preset ${asked} may allow more.`,
    `Leave the preset out, or let a person give it: reeve policy preset ${asked} --session ${session}.`,
    { session, preset: asked },
  )
}

function otherPreset(session: string, current: Preset, asked: Preset): Refusal {
  return refusal(
    'conflict',
    `The session ${session} is open with the preset ${current}, which allows more than ${asked}.`,
    `Leave the preset out, or change it: reeve policy preset ${asked} --session ${session}.`,
    { session, preset: current },
  )
}
