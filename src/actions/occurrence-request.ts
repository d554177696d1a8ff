import { asJson } from '../core/json/json.ts'
import type { OccurrenceRequest } from '../core/schedule/schedule.ts'
import type { ParsedInputOf } from '../verbs/reeve.ts'
import type { ActionParts } from './action.ts'
import { namesImage, withImage } from './resolve-image.ts'
import { checkPatterns, refuseModel, withoutUndefined } from './spawn.ts'

type Asked = ParsedInputOf<'addSchedule'>['process']
type AskedAgent = Extract<Asked, { readonly kind: 'agent' }>
type Parts = Pick<ActionParts, 'kernel' | 'actor' | 'commands' | 'agents'>

/**
 * The process of a schedule or a trigger. `known`: what a definition of this name has, so that the same one once more is the same
 * version of an image.
 */
export async function occurrenceRequestOf(
  parts: Parts,
  asked: Asked,
  known: OccurrenceRequest | null,
): Promise<OccurrenceRequest> {
  if (asked.kind === 'agent') return agentOf(parts, asked, known)
  if (asked.kind === 'command') checkPatterns(asked.spec)
  const request = withoutUndefined(asked) as OccurrenceRequest
  const isHere = asked.kind === 'command' && parts.commands !== undefined
  return isHere ? { ...request, cwd: request.cwd ?? process.cwd() } : request
}

/** What a caller has defined, without what follows from it. */
export function shownProcess({ effects: _, ...process }: OccurrenceRequest) {
  return asJson(process)
}

/** It is made from its image now: a later version counts when the process is edited. It ends with its turn, so that the next can begin. */
async function agentOf(
  { kernel, actor, agents }: Parts,
  asked: AskedAgent,
  known: OccurrenceRequest | null,
): Promise<OccurrenceRequest> {
  const before = known?.spec['image']
  const { input, effects } = namesImage(kernel.edges, asked)
    ? await withImage(kernel.edges, actor, asked, typeof before === 'string' ? before : null)
    : { input: asked }
  if (agents?.opensModels === true) await refuseModel(kernel, actor, input, agents)
  const request = withoutUndefined(input) as OccurrenceRequest
  return {
    ...request,
    spec: { once: true, ...request.spec },
    ...(effects === undefined ? {} : { effects }),
  }
}
