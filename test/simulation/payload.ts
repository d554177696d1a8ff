import type { Json } from '../../src/core/json/json.ts'
import type { ReservedEvent, StoredEvent } from '../../src/core/process/event.ts'

type Payloads = { readonly [Event in ReservedEvent as Event['type']]: Event['payload'] }

/** The payload of an event of Reeve's own; undefined if the event is of another type. */
export function payloadOf<Type extends keyof Payloads>(
  event: Pick<StoredEvent, 'type' | 'payload'>,
  type: Type,
): Payloads[Type] | undefined {
  return event.type === type ? (event.payload as Payloads[Type]) : undefined
}

/** A value that consists of JSON alone, though its type does not say so. */
export function asJson(value: unknown): Json {
  return value as Json
}

/** The input of a simulated tool or workflow, as `asJson` was given it. */
export function stepsFrom<Step>(input: unknown): readonly Step[] {
  if (!Array.isArray(input)) throw new Error('The input is not a list of steps')
  return input
}
