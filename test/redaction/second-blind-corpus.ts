import type { Leak } from './blind-corpus/fake.ts'
import { loggedSecrets } from './second-blind-corpus/logs.ts'
import { namedSecrets } from './second-blind-corpus/names.ts'
import { protocolSecrets } from './second-blind-corpus/protocols.ts'
import { vendorSecrets } from './second-blind-corpus/vendors.ts'

/** 200 more texts with secrets, written without knowledge of the masker or of the first corpus. */
export const secondSecrets: readonly Leak[] = [
  ...vendorSecrets,
  ...namedSecrets,
  ...protocolSecrets,
  ...loggedSecrets,
]
