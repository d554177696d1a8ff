import * as z from 'zod'
import { MAX_TIMER_MS } from '../../base/max-timer-ms.ts'

/** Neither control characters nor half of a surrogate pair: no database keeps both apart. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]+$/u

const id = (what: string) =>
  z
    .string()
    .trim()
    .min(1, `${what} must not be empty`)
    .max(200, `${what} must have at most 200 characters`)
    .regex(PRINTABLE, `${what} must not have control characters`)

/** A pid, four or more characters of one after `p_`, or a name. */
export const processRef = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe('a pid, an unambiguous beginning of one, or a name')
export const pid = z.string().regex(/^p_[0-9a-hjkmnp-tv-z]{12}$/, 'must be a whole pid, like p_7k3m9q2x4t8v')
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be letters, digits, dots, dashes and underscores, at most 100',
  )
  .refine((text) => !text.startsWith('p_'), 'must not look like a pid')
export const sessionId = id('a session id')
export const turnId = id('a turn id')
export const selector = id('a selector')
export const signalName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be letters, digits, dashes and underscores')
export const eventTypeName = z
  .string()
  .regex(/^[a-z][a-z0-9_.-]{0,99}$/, 'must be lower-case letters, digits, dots, dashes and underscores')
export const replayKey = z.string().min(1).max(300).regex(PRINTABLE, 'must not have control characters')
/** Relative to what, nobody would know who reads the record later. */
export const folder = z
  .string()
  .max(4_096)
  .regex(/^\/[^\0]*$/, 'must be an absolute path, like /srv/project')
export const time = z.number().int().nonnegative().describe('milliseconds since 1970')
export const duration = z.number().int().nonnegative().max(MAX_TIMER_MS).describe('milliseconds')
export const reason = z.string().min(1).max(2_000)
export const count = z.number().int().nonnegative()
export const pageSize = z.number().int().min(1).max(1_000).default(100)
/** Opaque text to go on from. */
export const cursor = z.string().regex(/^c[0-9]{1,16}$/, 'must be a cursor from an earlier answer')
