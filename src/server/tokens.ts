import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { PERSON_NAME } from '../core/authority/person.ts'
import { ROLES } from '../verbs/verb.ts'

export const TOKEN_ROLES = [...ROLES, 'agent'] as const

/** A stored token: its role, and only a hash of its text. */
export const storedToken = z
  .strictObject({
    id: z.string().min(1),
    hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex'),
    role: z.enum(TOKEN_ROLES),
    session: z.string().min(1).exactOptional(),
    label: z.string().exactOptional(),
    /** The name of the person whose token it is. */
    person: z
      .string()
      .regex(PERSON_NAME, 'must be a name of letters, digits and ._@+-, and not host')
      .exactOptional(),
    /** The person sits at the client that has the token, and may be asked there. */
    approver: z.literal(true).exactOptional(),
    createdAt: z.number().int().nonnegative(),
  })
  .refine(({ role, session }) => (role === 'agent') === (session !== undefined), {
    message: 'an agent token, and no other, belongs to a session',
  })
  .refine(
    ({ role, person, approver }) => approver === undefined || (role === 'agent' && person !== undefined),
    {
      message: 'only an agent token with a person has an approver',
    },
  )
export type StoredToken = z.output<typeof storedToken>

/** The tokens that a server accepts. */
export interface Tokens {
  all(): readonly StoredToken[]
}

/** Compares with every token in constant time, so that the time reveals nothing. */
export function findToken(tokens: Tokens, given: string): StoredToken | undefined {
  const hash = Buffer.from(tokenHash(given), 'hex')
  let found: StoredToken | undefined
  for (const token of tokens.all()) {
    if (timingSafeEqual(hash, Buffer.from(token.hash, 'hex'))) found = token
  }
  return found
}

export function newTokenText(): string {
  return `rv_${randomBytes(32).toString('base64url')}`
}

export function tokenHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
