import * as z from 'zod'
import type { InputPart } from '../../core/agent/input-part.ts'
import type { RepeatKey } from '../verb.ts'
import { processCodes } from './codes.ts'

/** Without control characters: the id is part of a replay key. */
const requestText = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must not have control characters')

/** The request id of a method. */
export const requestId = requestText
  .exactOptional()
  .describe('the id of this request: with the same id a repeated request gets the answer of the first one')

export const inputId = requestText.describe('the id of an input')

/** A method may be sent again: the daemon recognises its id. */
export const byRequestId: RepeatKey = { keys: ['id'], generated: 'always' }

/** Refusals of every method of an agent. */
export const methodCodes = [
  ...processCodes,
  'invalid_request',
  'already_ended',
  'stopping',
  'replay_conflict',
] as const

/** The longest text of one part: a book. */
const MAX_TEXT_CHARS = 2_000_000
/** Of base64: 24 MB of content, more than providers take in one request. */
const MAX_DATA_CHARS = 32 * 1024 * 1024
const MAX_INPUT_PARTS = 64
const MAX_PATH_CHARS = 4_096

const data = z
  .string()
  .min(1)
  .max(MAX_DATA_CHARS)
  // One alphabet and one padding: equal content is equal text.
  .refine(isBase64, 'must be base64')
  .describe('the content, in base64')
const mediaType = (kind: RegExp, example: string) =>
  z
    .string()
    .max(100)
    .regex(kind, `must be a media type like ${example}`)
    .describe(`its media type, like ${example}`)

const line = z.number().int().min(1)

/** One piece of an input. */
const inputPart = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    text: z.string().min(1).max(MAX_TEXT_CHARS).describe('the text'),
  }),
  z.strictObject({
    type: z.literal('image'),
    mediaType: mediaType(/^image\/[a-z0-9.+-]+$/, 'image/png'),
    data,
  }),
  z.strictObject({
    type: z.literal('file'),
    mediaType: mediaType(/^[a-z]+\/[a-z0-9.+-]+$/, 'application/pdf'),
    name: z.string().min(1).max(255).exactOptional().describe('its file name, for the model'),
    data,
  }),
  z.strictObject({
    type: z.literal('paste'),
    text: z.string().min(1).max(MAX_TEXT_CHARS).describe('text that was pasted, and not typed'),
    name: z.string().min(1).max(255).exactOptional().describe('what it is, for the model'),
  }),
  z.strictObject({
    type: z.literal('reference'),
    path: z
      .string()
      .min(1)
      .max(MAX_PATH_CHARS)
      .describe('a file of the workspace, relative to it or absolute'),
    from: line.exactOptional().describe('the first line, from 1'),
    to: line.exactOptional().describe('the last line'),
  }),
  z.strictObject({
    type: z.literal('command'),
    name: z.string().min(1).max(200).describe('the name of a slash command'),
    arguments: z.string().max(MAX_TEXT_CHARS).exactOptional().describe('the text behind its name'),
  }),
]) satisfies z.ZodType<InputPart>

/** An input: a text, or parts. */
export const content = {
  text: z.string().min(1).max(MAX_TEXT_CHARS).exactOptional().describe('a text; or give `parts`'),
  parts: z
    .array(inputPart)
    .min(1)
    .max(MAX_INPUT_PARTS)
    .exactOptional()
    .describe(
      'texts, pasted texts, images, files, references to files of the workspace and slash commands, in their order; or give `text`',
    ),
}

export function hasOneContent({
  text,
  parts,
}: {
  readonly text?: unknown
  readonly parts?: unknown
}): boolean {
  return (text === undefined) !== (parts === undefined)
}

export const ONE_CONTENT = 'give either text or parts'

/** Without a regular expression: those run out of stack on megabytes. */
function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  for (let index = 0; index < text.length - padding; index++)
    if (!isBase64Unit(text.charCodeAt(index))) return false
  return true
}

function isBase64Unit(unit: number): boolean {
  const isLetter = (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a)
  return isLetter || (unit >= 0x30 && unit <= 0x39) || unit === 0x2b || unit === 0x2f
}
