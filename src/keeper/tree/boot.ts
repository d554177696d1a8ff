import { readlinkSync } from 'node:fs'
import { isGone, readProc } from './stat.ts'

let known: string | undefined

/** Which boot of the machine this is. Empty where the system has no /proc: then no identity can be proved. */
export function bootId(): string {
  known ??= readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
  return known
}

/** PIDs can be compared only within one of these. */
export function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch (error) {
    if (isGone(error)) return ''
    throw error
  }
}
