import { isObject } from '../../base/is-object.ts'
import type { Json } from '../json/json.ts'
import type { Kind } from '../process/record.ts'
import { type Amounts, exact } from './amounts.ts'

/** The usage of a command. Only its keeper measures it, and reports it with the end. */
export function usedByCommand(kind: Kind, result: Json | undefined): Amounts {
  if (kind !== 'command' || !isObject(result)) return {}
  const { outputBytes, usage } = result
  const cpuMs = isObject(usage) ? usage['cpuMs'] : undefined
  return {
    ...(typeof outputBytes === 'number' ? { outputBytes } : {}),
    ...(typeof cpuMs === 'number' ? { cpuSeconds: exact(cpuMs / 1_000) } : {}),
  }
}
