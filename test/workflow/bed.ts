import {
  type Embedded,
  type EmbedOptions,
  embed,
  type Json,
  type WorkflowFunction,
  type WorkflowOptions,
} from 'reeve'
import { openMemory } from 'reeve/testing'
import { onTestFinished, test } from 'vitest'
import { MemoryTables } from '../../src/store/memory/open.ts'
import { places } from '../crash/places.ts'

/** The address of a store that several kernels of one test share. */
export type Place = string | MemoryTables | Exclude<EmbedOptions['store'], string>

const STORES: Readonly<Record<string, () => Promise<Place>>> = {
  ...places,
  memory: async () => new MemoryTables(),
}

/** A test on each of the stores; `place` makes one. */
export function onEachStore(name: string, body: (place: () => Promise<Place>) => Promise<void>): void {
  for (const [store, place] of Object.entries(STORES)) test(`${store}: ${name}`, () => body(place))
}

export async function storeAt(place: Place): Promise<EmbedOptions['store']> {
  return place instanceof MemoryTables ? openMemory({ shared: place }) : place
}

/** A kernel over the store of a place that serves one durable function, closed with the test. */
export async function serve(
  place: Place,
  run: WorkflowFunction,
  options: WorkflowOptions = {},
  others: Omit<EmbedOptions, 'store'> = {},
): Promise<Embedded> {
  const reeve = await embed({ store: await storeAt(place), ...others })
  onTestFinished(() => reeve.close())
  await reeve.workflow('work', run, { graceMs: 0, ...options })
  return reeve
}

export async function start(reeve: Embedded, input: Json = null): Promise<string> {
  const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work', input } })
  return record.pid
}

export async function outcomeOf(reeve: Embedded, pid: string) {
  const ended = await reeve.wait({ pid })
  if (ended.type !== 'ended') throw new Error(`${pid} has not ended`)
  return ended.record.outcome
}

/** The payloads of these event types, in order. */
export async function logOf(reeve: Embedded, pid: string, ...types: readonly string[]) {
  const { events } = await reeve.events({ pid, limit: 1_000 })
  return events.filter(({ type }) => types.includes(type)).map(({ payload }) => payload)
}

/** A promise that the test resolves. */
export function gate<Value = void>() {
  return Promise.withResolvers<Value>()
}

/** Reports that it was reached, and never resolves. */
export function stuck<Value = null>(reached: { resolve(): void }): Promise<Value> {
  reached.resolve()
  return new Promise(() => {})
}

export function noted<Note, Value>(notes: Note[], note: Note, value: Value): Value {
  notes.push(note)
  return value
}
