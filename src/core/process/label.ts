import type { RegistrationRequest } from './registration-request.ts'

/** What a spec starts, short enough for a list. */
export function labelOf({ kind, spec }: Pick<RegistrationRequest, 'kind' | 'spec'>): string {
  const text = kind === 'command' ? (spec['run'] ?? spec['argv']) : (spec[kind] ?? spec['description'])
  const label = Array.isArray(text) ? text.join(' ') : typeof text === 'string' ? text : kind
  return label.length > MAX_LABEL_CHARS ? `${label.slice(0, MAX_LABEL_CHARS - 1)}…` : label
}

const MAX_LABEL_CHARS = 120
