import { isObject } from '../../base/is-object.ts'
import { NATIVE_AGENT, targetOf } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { refuseProcess } from '../schedule/decide-schedule.ts'
import type { TriggerDefinition } from './trigger.ts'

/** Refuses a definition whose process cannot be started by a trigger, or cannot take its payload. */
export function refuseTrigger({ request, source }: TriggerDefinition): Refusal | undefined {
  return refuseProcess(request) ?? refuseInput(request) ?? refuseFilter(source)
}

function refuseInput({ kind, spec }: TriggerDefinition['request']): Refusal | undefined {
  if (kind === 'agent' && targetOf(kind, spec) === NATIVE_AGENT && typeof spec['goal'] !== 'string')
    return refusal(
      'invalid_input',
      'The goal of a triggered agent is not a text, and what happened is appended to a text.',
      'Give spec.goal as a text.',
      { field: 'process.spec' },
    )
  const input = spec['input']
  if ((kind !== 'workflow' && kind !== 'tool') || input === undefined || isObject(input)) return undefined
  return refusal(
    'invalid_input',
    'The input is no object, and what happened is added to it as the member trigger.',
    'Give spec.input as an object, or leave it out.',
    { field: 'process.spec' },
  )
}

function refuseFilter(source: TriggerDefinition['source']): Refusal | undefined {
  if (source.type !== 'event' || source.outcome === undefined || source.on.includes('ended')) return undefined
  return refusal(
    'invalid_input',
    'An outcome is a part of the event ended, and the trigger does not start on that event.',
    'Start it on ended, or leave the outcome out.',
    { field: 'source.outcome' },
  )
}

export function triggerUnknown(id: string): Refusal {
  return refusal('not_found', `There is no trigger ${id}.`, 'List them: reeve trigger list.', { trigger: id })
}

export function triggerPaused({
  id,
  paused,
}: {
  id: string
  paused: { readonly note: string | null } | null
}) {
  return refusal(
    'busy',
    `The trigger ${id} is paused${paused?.note == null ? '' : `: ${paused.note.replace(/\.$/, '')}`}.`,
    `Resume it: reeve trigger resume ${id}.`,
    { trigger: id, retryAfterSeconds: 60 },
  )
}

export function queueFull(id: string, limit: number): Refusal {
  return refusal(
    'limit_exceeded',
    `${limit} deliveries of the trigger ${id} wait, which is the limit.`,
    'Deliver it again later: it was not accepted.',
    { trigger: id, limit, retryAfterSeconds: 60 },
  )
}
