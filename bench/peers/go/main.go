// The Go way: encoding/json into a slice of structs, as trace converters in Go do it. Decoding only: no stacks, no output.
//
// Usage: main [-args=false] TRACE      (plain JSON or gzip)
//
// -args=false leaves args out, as a converter to pprof may; a tool that keeps all of an event may not.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
)

type event struct {
	Ph   string  `json:"ph"`
	Cat  string  `json:"cat"`
	Name string  `json:"name"`
	Pid  any     `json:"pid"`
	Tid  any     `json:"tid"`
	Ts   float64 `json:"ts"`
	Dur  float64 `json:"dur"`
}

type eventWithArgs struct {
	event
	Args map[string]any `json:"args"`
}

func (e event) base() event { return e }

// open returns the JSON of a file, unpacked if it begins with the gzip mark.
func open(path string) (io.Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReaderSize(file, 1<<20)
	if mark, err := buffered.Peek(2); err != nil || mark[0] != 0x1f || mark[1] != 0x8b {
		return buffered, nil
	}
	return gzip.NewReader(buffered)
}

// load decodes a whole trace.
func load[E any](path string) ([]E, error) {
	reader, err := open(path)
	if err != nil {
		return nil, err
	}
	var trace struct {
		TraceEvents []E `json:"traceEvents"`
	}
	err = json.NewDecoder(reader).Decode(&trace)
	return trace.TraceEvents, err
}

// summarise returns the line that tells the driver what was seen.
func summarise[E interface{ base() event }](events []E) string {
	var durNs int64
	for _, element := range events {
		if e := element.base(); e.Ph == "X" {
			durNs += int64(math.Round(e.Dur * 1000))
		}
	}
	return fmt.Sprintf(`{"events": %d, "dur_ns": %d}`, len(events), durNs)
}

// run loads the trace as events of type E and prints what was seen.
func run[E interface{ base() event }](path string) {
	events, err := load[E](path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summarise(events))
}

func main() {
	keepArgs := flag.Bool("args", true, "keep the args of the events")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: main [-args=false] TRACE")
	}
	if *keepArgs {
		run[eventWithArgs](flag.Arg(0))
	} else {
		run[event](flag.Arg(0))
	}
}
