import { ReeveError } from '../../core/errors.ts'

/** The parameters of a request to a stream. */
export interface Asked {
  readonly from: number | 'now'
  readonly live: 'long-poll' | 'sse' | null
  readonly cursor: string | null
  /** Tags of pages that the reader has already. */
  readonly has: readonly string[]
}

export function askedOf({ url, headers }: Request): Asked {
  const query = new URL(url).searchParams
  const offsets = query.getAll('offset')
  const live = query.get('live')
  if (live !== null && live !== 'long-poll' && live !== 'sse')
    throw badRequest(`live is ${JSON.stringify(live)}.`, 'Give long-poll or sse, or leave it out.')
  if (live !== null && offsets.length === 0)
    throw badRequest(
      'There is live, but no offset.',
      'Give the offset to continue from; -1 is the beginning.',
    )
  const [offset = '-1'] = offsets
  if (offsets.length > 1 || !/^(-1|now|[0-9]{16})$/.test(offset) || Number(offset) > Number.MAX_SAFE_INTEGER)
    throw badRequest(
      `offset is ${JSON.stringify(offsets.join(', '))}.`,
      'Give one offset: 16 digits as an earlier answer had them, -1 for the beginning, or now.',
    )
  const from = offset === 'now' ? offset : Math.max(0, Number(offset))
  const has = (headers.get('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return { from, live, cursor: query.get('cursor'), has }
}

/** Text that sorts like the number. */
export function offsetText(offset: number): string {
  return String(offset).padStart(16, '0')
}

const CURSOR_EPOCH = Date.UTC(2024, 9, 9)
const CURSOR_MS = 20_000

/** Rises with time and above the reader's last cursor, so that no cache answers a live request with an old answer. */
export function nextCursor(had: string | null, now: number): string {
  const current = Math.floor((now - CURSOR_EPOCH) / CURSOR_MS)
  const known = had === null ? Number.NaN : Number(had)
  return String(known >= current && known < Number.MAX_SAFE_INTEGER ? known + 1 : current)
}

function badRequest(message: string, remedy: string): ReeveError {
  return new ReeveError('bad_request', message, remedy)
}
