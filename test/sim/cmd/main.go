// Command sim plays simulated schedules: many seeds, or one with its trace.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/rollcall-dev/rollcall/test/sim"
)

func main() {
	seeds := flag.Uint64("seeds", 5000, "how many seeds to play")
	from := flag.Uint64("from", 0, "the first seed")
	faults := flag.Int("faults", 5, "stop after so many seeds that went wrong")
	seed := flag.Int64("seed", -1, "play this seed alone and print its trace")
	flag.Parse()
	if *seed >= 0 {
		os.Exit(trace(uint64(*seed)))
	}
	os.Exit(play(*from, *seeds, *faults))
}

// trace plays one seed and tells what happens.
func trace(seed uint64) int {
	r := sim.Run(seed, func(line string) { fmt.Println(line) })
	fmt.Printf("\n%s: %d steps, %v simulated, %d changes of facts, %d events, %d pushes, outcomes %v\n",
		r.Profile, r.Steps, r.Took.Round(time.Second), r.Changes, r.Events, r.Pushes, r.Outcomes)
	if r.Fault != nil {
		fmt.Println(r.Fault)
		return 1
	}
	fmt.Println("every invariant holds")
	return 0
}

// play plays many seeds and prints what they were like together.
func play(from, seeds uint64, faults int) int {
	began := time.Now()
	total := sim.Many(from, seeds, runtime.GOMAXPROCS(0), faults)
	fmt.Print(total)
	fmt.Printf("%d seeds in %v\n", total.Runs, time.Since(began).Round(time.Millisecond))
	for _, f := range total.Faults {
		fmt.Println(f)
	}
	if len(total.Faults) > 0 {
		return 1
	}
	return 0
}
