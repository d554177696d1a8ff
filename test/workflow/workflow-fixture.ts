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
import { newStores } from '../crash/new-stores.ts'

/** The address of a store that several kernels of one test share. */
export type StoreAddress = string | MemoryTables | Exclude<EmbedOptions['store'], string>

const STORES: Readonly<Record<string, () => Promise<StoreAddress>>> = {
  ...newStores,
  memory: async () => new MemoryTables(),
}

/** Runs a test on each of the stores. `newStore` makes an empty one. */
export function onEachStore(
  name: string,
  body: (newStore: () => Promise<StoreAddress>) => Promise<void>,
): void {
  for (const [store, newStore] of Object.entries(STORES)) test(`${store}: ${name}`, () => body(newStore))
}

export async function storeAt(address: StoreAddress): Promise<EmbedOptions['store']> {
  return address instanceof MemoryTables ? openMemory({ shared: address }) : address
}

/** A kernel that serves one workflow over the store at this address. Closed with the test. */
export async function serve(
  address: StoreAddress,
  run: WorkflowFunction,
  options: WorkflowOptions = {},
  others: Omit<EmbedOptions, 'store'> = {},
): Promise<Embedded> {
  const reeve = await embed({ store: await storeAt(address), ...others })
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

/** Resolves `reached`, and never settles itself. */
export function stuck<Value = null>(reached: { resolve(): void }): Promise<Value> {
  reached.resolve()
  return new Promise(() => {})
}

/** Returns `value`, after it has appended `note`. */
export function noteAnd<Note, Value>(notes: Note[], note: Note, value: Value): Value {
  notes.push(note)
  return value
}
