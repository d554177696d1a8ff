/** Loads croner: most programs have no schedule, so nothing else may import it. */
export async function loadCronTimes(): Promise<typeof import('./cron-times.ts')> {
  return import('./cron-times.ts')
}
