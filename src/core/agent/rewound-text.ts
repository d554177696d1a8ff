import type { KeptReason } from '../files/plan-undo.ts'
import type { FilesPutBack } from './event.ts'
import type { SessionRewound } from './rewind.ts'

/** Files that a text names. */
const MAX_NAMED = 20

/** A rewind, in a sentence. */
export function rewoundText({
  left,
  last,
  label,
}: Pick<SessionRewound, 'left' | 'last'> & { readonly label?: string | undefined }): string {
  const where = last === null ? 'its beginning' : `the end of turn ${last}`
  if (left === null || left === last) return `The session was rewound to ${where}.`
  const name = label === undefined ? '' : `, ${JSON.stringify(label)},`
  return `The session was rewound to ${where}; the branch${name} that ends with turn ${left} stays.`
}

/** Files that were put back, and those that were left, one line each. */
export function putBackLines({
  files,
  left = [],
  more = 0,
}: Pick<FilesPutBack, 'files'> & Partial<FilesPutBack>): readonly string[] {
  const unnamed = Math.max(0, left.length - MAX_NAMED) + more
  return [
    ...files.map(({ path, after }) => (after === null ? `removed ${path}` : `put back ${path}`)),
    ...left.slice(0, MAX_NAMED).map(({ path, why }) => `left ${path}: ${WHY_LEFT[why]}`),
    ...(unnamed === 0 ? [] : [`left ${unnamed} more files`]),
  ]
}

/** Why a file was left as it is. */
export const WHY_LEFT: Readonly<Record<KeptReason, string>> = {
  changed_between: 'something else changed it between two changes of the agent',
  changed_since: 'something else has changed it since',
  not_kept: 'its earlier content is not kept',
  unverified: 'a call that may have written it was interrupted',
  link: 'its path leads through a symbolic link now',
  denied: 'the agent may not write it',
  path_held: 'another agent alone may write it',
  failed: 'the file system refused the write',
}
