import type { StoredEvent } from '../../core/process/event.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { type EventColumns, type ProcessColumns, processRow, storedEvent } from '../columns.ts'
import { type StoredText, unpackText } from './packed-text.ts'

/** Selects the payload of an event, as it is stored. */
export const storedPayload = (event: string) => `coalesce(${event}.packed, ${event}.payload)`

export interface StoredProcessColumns extends Omit<ProcessColumns, 'payload' | 'ending'> {
  readonly payload: StoredText
  readonly ending: StoredText | null
}

export interface StoredEventColumns extends Omit<EventColumns, 'payload'> {
  readonly payload: StoredText
}

export function unpackProcess({ payload, ending, ...columns }: StoredProcessColumns): ProcessRow {
  return processRow({
    ...columns,
    payload: unpackText(payload),
    ending: ending === null ? null : unpackText(ending),
  })
}

export function unpackEvent({ payload, ...columns }: StoredEventColumns): StoredEvent {
  return storedEvent({ ...columns, payload: unpackText(payload) })
}
