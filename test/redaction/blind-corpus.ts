import type { Leak } from './blind-corpus/fake.ts'
import { innocentTexts } from './blind-corpus/innocent.ts'
import { namedSecrets } from './blind-corpus/names.ts'
import { protocolSecrets } from './blind-corpus/protocols.ts'
import { vendorSecrets } from './blind-corpus/vendors.ts'

/**
 * Texts with secrets, written without knowledge of the masker. Every token is assembled at run time, because hosting sites scan
 * repositories for literal ones.
 */
export const secrets: readonly Leak[] = [...vendorSecrets, ...protocolSecrets, ...namedSecrets]

/** Texts without secrets, which must stay unchanged. */
export const innocent: readonly string[] = innocentTexts
