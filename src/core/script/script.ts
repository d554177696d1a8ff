import { canonical } from '../json/canonical.ts'
import { type Json, objectOf } from '../json/json.ts'
import type { WaitRef } from '../process/intent.ts'
import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { builtInName, PROPOSE_TOOL, SCRIPT } from '../tool/built-in-name.ts'

/** The idempotency key of the n-th call of a script: its pid follows from the script and from this number. */
export function scriptCallKey(n: number): string {
  return `call:${n}`
}

/** The wait of a script for one of its calls. */
export function waitForCall(call: Pid): WaitRef {
  return { on: 'child', name: call, ordinal: 1 }
}

/** The wait that ends with the script's time. A person who is waited for moves that: then there is another one. */
export const DEADLINE = 'deadline'

/** Tools that a script does not call: what it starts in turn has no bound. */
export function isCallable(name: string): boolean {
  return name !== SCRIPT && name !== PROPOSE_TOOL
}

/** How a replayed call differs from the one that the same script made before; undefined if it does not. */
export function divergence(
  n: number,
  { spec }: Pick<ProcessRecord, 'spec'>,
  call: { readonly tool: string; readonly input: Json },
): string | undefined {
  const before = { tool: builtInName(spec['tool']) ?? spec['tool'] ?? null, input: spec['input'] ?? null }
  if (canonical({ ...before }) === canonical({ ...call })) return undefined
  return `It took another way than before: call ${n} was ${textOf(before)}, and is ${textOf(call)} now.`
}

const MAX_SHOWN_CHARS = 300

function textOf({ tool, input }: { readonly tool: Json; readonly input: Json }): string {
  return `${String(tool)} ${JSON.stringify(input)}`.slice(0, MAX_SHOWN_CHARS).toWellFormed()
}

/** The reason why a call was refused; null if a process was its answer. */
export function refusalIn(value: Json): string | null {
  const { refused } = objectOf(value)
  return typeof refused === 'string' ? refused : null
}
