/**
 * Measures every candidate once per round, so that whatever else the machine does meets all of them; every second round
 * goes backwards. Returns the samples by candidate, in its order.
 *
 * @param options `warmUps` rounds come first and are not counted; default none.
 */
export async function takeTurns<Candidate, Sample>(
  candidates: readonly Candidate[],
  { rounds, warmUps = 0 }: { rounds: number; warmUps?: number },
  measure: (candidate: Candidate, round: number) => Promise<Sample>,
): Promise<Sample[][]> {
  const samples: Sample[][] = candidates.map(() => []);
  for (let round = -warmUps; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [...candidates.keys()] : [...candidates.keys()].reverse();
    for (const index of order) {
      const candidate = candidates[index];
      if (candidate === undefined) continue;
      const sample = await measure(candidate, round);
      if (round >= 0) samples[index]?.push(sample);
    }
  }
  return samples;
}
