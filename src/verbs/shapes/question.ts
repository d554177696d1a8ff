import * as z from 'zod'
import {
  MAX_CHOICE_CHARS,
  MAX_CHOICES,
  MAX_PRIORITY,
  MAX_QUESTION_CHARS,
} from '../../core/approval/question.ts'
import { MAX_WAIT_MS } from '../../core/process/wait-time.ts'

/** A question to a person. The rules about its members are in `core/approval/question.ts`. */
export const question = {
  question: z.string().min(1).max(MAX_QUESTION_CHARS).describe('what the person is asked'),
  choices: z
    .array(z.string().min(1).max(MAX_CHOICE_CHARS))
    .min(1)
    .max(MAX_CHOICES)
    .exactOptional()
    .describe('the person replies with one of these; without them with a text'),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(MAX_WAIT_MS)
    .exactOptional()
    .describe('how long the question waits for a reply; forever without it'),
  person: z
    .string()
    .min(1)
    .max(100)
    .exactOptional()
    .describe('the name of the person who is asked; any person without it'),
  priority: z
    .number()
    .int()
    .min(-MAX_PRIORITY)
    .max(MAX_PRIORITY)
    .exactOptional()
    .describe('higher ones are shown first; 0 by default'),
}
