import { readlinkSync } from 'node:fs'
import { readProc, whereReadable } from './proc-files.ts'

let known: string | undefined

/** The id of this boot of the machine. Empty where the system has no /proc: then no identity can be verified. */
export function bootId(): string {
  known ??= readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
  return known
}

/** PIDs can be compared only within one PID namespace. Empty where the system has no /proc. */
export function pidNamespace(): string {
  return whereReadable(() => readlinkSync('/proc/self/ns/pid'), '')
}
