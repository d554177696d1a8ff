import type { Json } from '../json/json.ts'
import type { Kind } from '../process/record.ts'
import { type Amounts, exact } from './amounts.ts'

/** What a command used and only its keeper saw: the keeper reports it with the end. */
export function usedByCommand(kind: Kind, result: Json | undefined): Amounts {
  if (kind !== 'command' || typeof result !== 'object' || result === null || Array.isArray(result)) return {}
  const { outputBytes, usage } = result as { outputBytes?: unknown; usage?: { cpuMs?: unknown } }
  const cpuMs = usage?.cpuMs
  return {
    ...(typeof outputBytes === 'number' ? { outputBytes } : {}),
    ...(typeof cpuMs === 'number' ? { cpuSeconds: exact(cpuMs / 1_000) } : {}),
  }
}
