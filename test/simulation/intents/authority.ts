import { approvals } from './approvals.ts'
import { consent } from './consent.ts'
import { files } from './files.ts'
import { gated } from './gated.ts'
import type { Request } from './intent.ts'
import { rules } from './rules.ts'

/** Rules, acts under rules, and answers to approvals. Only in worlds with rules: in all worlds they would shift the seeds of plants. */
export const authority: readonly Request[] = [...rules, ...files, ...gated, ...approvals, ...consent]
