/** The laws of schedules and triggers. A planted bug names the one that it breaks. */
export const LAWS = {
  once: 'each scheduled time has one process',
  policy: 'exactly the times run that the policy says',
  window: 'no scheduled time runs early, or later than its window',
  overlap: 'occurrences overlap as the policy says',
  planned: 'a schedule that is not paused has its next occurrence',
  pauses: 'a definition pauses by itself only after a failure',
  deliveredOnce: 'each delivery makes at most one process',
  accepted: 'an accepted delivery is not lost',
  verdicts: 'a delivery becomes what the overlap says',
  sources: 'each event and each lasting change of files is delivered once',
} as const
export type DefinitionLaw = (typeof LAWS)[keyof typeof LAWS]
