import { UsageError } from './usage-error.ts'

/** Refuses options that would have no effect: a person who gives one expects one. */
export function refuseStray(options: object, names: readonly string[], needed: string): void {
  const values = new Map(Object.entries(options))
  const stray = names.find((name) => isGiven(values.get(name)))
  if (stray === undefined) return
  throw new UsageError(`--${stray} has no effect without ${needed}.`, 'Give both, or leave it out.')
}

export function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
}

/** Refuses an edit without any option: it would change nothing, and a person who calls it expects a change. */
export function refuseEmptyEdit(request: object, help: string): void {
  // The name alone.
  if (Object.keys(request).length <= 1) throw new UsageError('What changes?', help)
}
