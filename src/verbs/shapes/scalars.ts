import * as z from 'zod'
import { MAX_TIMER_MS } from '../../base/max-timer-ms.ts'
import { SIGNAL_NAME, SIGNAL_NAME_RULE } from '../../core/process/signal-name.ts'

/** Excludes control characters and half surrogate pairs, which databases change or refuse. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]+$/u

const id = (what: string) =>
  z
    .string()
    .trim()
    .min(1, `${what} must not be empty`)
    .max(200, `${what} must have at most 200 characters`)
    .regex(PRINTABLE, `${what} must not have control characters`)

/** A pid, at least four characters of one after `p_`, or a name. */
export const processRef = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe('a pid, an unambiguous beginning of one, or a name')
export const pid = z
  .string()
  .regex(/^p_[0-9a-hjkmnp-tv-z]{12}$/, 'must be a whole pid, like p_7k3m9q2x4t8v')
  .describe('a whole pid')
/** References to several processes. */
export const processRefs = z.array(processRef).min(1).max(1_000).describe('pids or names of processes')
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be letters, digits, dots, dashes and underscores, at most 100',
  )
  .refine((text) => !text.startsWith('p_'), 'must not look like a pid')
  .describe('a name for the process, to use instead of its pid')
export const sessionId = id('a session id').describe('the id of a session')
export const turnId = id('a turn id').describe('the id of a turn')
export const selector = id('a selector').describe('a selector of the owner')
export const signalName = z.string().regex(SIGNAL_NAME, SIGNAL_NAME_RULE).describe('the name of the signal')
export const eventTypeName = z
  .string()
  .regex(/^[a-z][a-z0-9_.-]{0,99}$/, 'must be lower-case letters, digits, dots, dashes and underscores')
export const replayKey = z
  .string()
  .min(1)
  .max(300)
  .regex(PRINTABLE, 'must not have control characters')
  .describe('the same key makes a repeated call safe')
/** Absolute: a reader of the record would not know what a relative path is relative to. */
export const folder = z
  .string()
  .max(4_096)
  .regex(/^\/[^\0]*$/, 'must be an absolute path, like /srv/project')
  .describe('the working folder, an absolute path')
export const time = z.number().int().nonnegative().describe('milliseconds since 1970')
export const duration = z.number().int().nonnegative().max(MAX_TIMER_MS).describe('milliseconds')
/** How long ago: no timer waits for it, so that it may be as long as a year. */
export const age = z.number().int().nonnegative().describe('milliseconds')
export const reason = z.string().min(1).max(2_000).describe('the reason, as it is recorded')
export const count = z.number().int().nonnegative()
export const pageSize = z
  .number()
  .int()
  .min(1)
  .max(1_000)
  .default(100)
  .describe('the maximum number of items')
/** Opaque text to continue from. */
export const cursor = z
  .string()
  .regex(/^c[0-9]{1,16}$/, 'must be a cursor from an earlier answer')
  .describe('the cursor of an earlier answer, to continue after it')
