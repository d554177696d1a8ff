import { isObject } from '../../base/is-object.ts'
import type { ProcessRecord } from '../process/record.ts'
import { startSpecOf } from '../process/spec.ts'
import { type Refusal, refusal } from '../refusal.ts'

/** Long-term memory of an agent: on or off, or on with a model and a time limit of its own for the job that keeps it. */
export type MemorySpec = boolean | MemoryOptions

export type MemoryOptions = {
  /** The model of the job; that of the agent if it is left out. */
  readonly model?: string
  /** How long one call of that model may take. */
  readonly timeoutMs?: number
}

/** The workflow that extracts and consolidates. */
export const MEMORY_WORKFLOW = '@reeve/memory'

/** The names of built-in workflows begin like this: no program serves one under such a name. */
export const BUILT_IN_WORKFLOWS = '@reeve/'

/** The options of an agent whose memory is on; null if it is off. */
export function memoryOf(agent: Parameters<typeof startSpecOf>[0]): MemoryOptions | null {
  const { memory } = startSpecOf(agent)
  if (memory === true) return {}
  if (!isObject(memory)) return null
  const { model, timeoutMs } = memory
  return {
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof timeoutMs === 'number' ? { timeoutMs } : {}),
  }
}

/** Whether a process is the job that keeps the memory of an agent. It is no child that the agent started. */
export function isMemoryJob({ kind, spec }: Pick<ProcessRecord, 'kind' | 'spec'>): boolean {
  return kind === 'workflow' && spec['workflow'] === MEMORY_WORKFLOW
}

/** Only Reeve itself starts the workflows of Reeve, below an agent. */
export function refuseBuiltIn(
  { kind, spec }: Pick<ProcessRecord, 'kind' | 'spec'>,
  actor: string,
  parent: Pick<ProcessRecord, 'kind'> | null,
): Refusal | undefined {
  const { workflow } = spec
  if (kind !== 'workflow' || typeof workflow !== 'string' || !workflow.startsWith(BUILT_IN_WORKFLOWS))
    return undefined
  if (actor.startsWith('kernel:') && parent?.kind === 'agent') return undefined
  return refusal(
    'invalid_input',
    `${workflow} is a workflow of Reeve itself, and is started by Reeve alone.`,
    'Start a workflow of your own, under another name.',
  )
}
