import * as z from 'zod'
import type { Actor } from '../../core/process/record.ts'

export const actor: z.ZodType<Actor> = z.custom<Actor>(
  (text) => typeof text === 'string' && /^(host|(human|session|process|kernel):.+)$/s.test(text),
  {
    message: 'must be host, human:…, session:…, process:… or kernel:…',
  },
)

/** The addressee of notices. */
export const scopeText = z.templateLiteral([z.enum(['session', 'process', 'human']), ':', z.string()])
