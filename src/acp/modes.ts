import { RequestError, type SessionConfigOption, type SessionModeState } from '@agentclientprotocol/sdk'
import type { OutputOf } from '../verbs/reeve.ts'

/** The mode without a preset. */
export const HOME_RULES = 'default'

/** The modes of an editor are the presets of Reeve. */
const MODES = [
  { id: HOME_RULES, name: 'Home rules', description: 'only the rules of this home and this workspace' },
  { id: 'observe', name: 'Observe', description: 'reads, and changes nothing' },
  { id: 'ask', name: 'Ask', description: 'reads, and asks you for everything else' },
  { id: 'edit', name: 'Edit', description: 'writes files of the workspace, and asks you for the rest' },
  { id: 'full', name: 'Full', description: 'does everything' },
] as const

type ModeId = (typeof MODES)[number]['id']

export function modeNamed(name: string): ModeId {
  const mode = MODES.find(({ id }) => id === name)
  if (mode !== undefined) return mode.id
  const known = MODES.map(({ id }) => id).join(', ')
  throw RequestError.invalidParams(
    { modeId: name },
    `There is no mode ${JSON.stringify(name)}; there are ${known}`,
  )
}

/** The mode that a session is in, by the rules of all subjects. */
export function modeOf(session: string, { rules }: OutputOf<'policies'>): ModeId {
  const own = rules.filter(({ subject }) => subject === `session:${session}`)
  const presets = new Set(own.map(({ rule }) => rule['preset']))
  return MODES.findLast(({ id }) => presets.has(id))?.id ?? HOME_RULES
}

export function modeState(current: string): SessionModeState {
  return { currentModeId: current, availableModes: MODES.map((mode) => ({ ...mode })) }
}

/** Editors that know options of sessions show them in place of modes. */
export function modeOption(current: string): SessionConfigOption {
  return {
    id: 'mode',
    name: 'Rules',
    category: 'mode',
    type: 'select',
    currentValue: current,
    options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
  }
}

export function modelOption(current: string, offered: readonly string[]): SessionConfigOption {
  const models = [...new Set([current, ...offered])]
  return {
    id: 'model',
    name: 'Model',
    category: 'model',
    type: 'select',
    currentValue: current,
    options: models.map((model) => ({ value: model, name: model })),
  }
}
