import { approvals } from './approvals.ts'
import { changed } from './changed.ts'
import { consent } from './consent.ts'
import { denials } from './denials.ts'
import { files } from './files.ts'
import { gated } from './gated.ts'
import type { Request } from './intent.ts'
import { rules } from './rules.ts'

/** Rules, acts under rules and without right, and answers to approvals. Only in worlds with rules: others have requests of their own to try. */
export const authority: readonly Request[] = [
  ...rules,
  ...files,
  ...gated,
  ...approvals,
  ...consent,
  ...denials,
  ...changed,
]
