import type { OutputOf } from './reeve.ts'

type Request = OutputOf<'approval'>['approval']['request']
type ShownChange = NonNullable<Extract<Request, { type: 'permission' }>['change']>

/** What a person reads about a change of a file, by the name of each fact. */
export function changeFacts(change: ShownChange): readonly (readonly [key: string, value: string])[] {
  const { path, after, before } = change
  const size =
    before === undefined ? '' : before === null ? ', a new file' : `; ${bytesText(before.bytes)} before`
  return [
    ['file', path],
    ['size', `${bytesText(after.bytes)}${size}`],
    ['hash', `SHA-256 ${after.hash}`],
    ['changes', changesText(change)],
  ]
}

/** Whether the diff says all that the call would do. */
export function isWhole({ diff, isCut }: ShownChange): boolean {
  return diff !== null && diff !== '' && !isCut
}

function changesText({ before, diff, isCut }: ShownChange): string {
  if (diff === null)
    return before === undefined
      ? 'not shown: the agent has not read the file as it is now'
      : 'not shown: the file is not text now'
  if (diff === '') return 'none, or in secrets alone'
  return isCut ? `${diff}\n… (the rest is in the input)` : diff
}

function bytesText(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`
}
