//===- Fibre.cpp - Stacks that the emulated threads run on ------*- C++ -*-===//
//
// Part of the rudnn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define RUDNN_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUDNN_ASAN 1
#endif
#endif
#ifdef RUDNN_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

using namespace rudnn::emulator;

#if defined(__x86_64__)

// The callee-saved registers live on the stack; the context is its pointer.
extern "C" void rudnnFibreSwitch(void **from, void *to);
extern "C" void rudnnFibreStart();
asm(R"(
  .text
  .p2align 4
  .type rudnnFibreSwitch,@function
rudnnFibreSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size rudnnFibreSwitch, .-rudnnFibreSwitch
  .p2align 4
  .type rudnnFibreStart,@function
rudnnFibreStart:
  movq %r12, %rdi
  callq *%r13
  ud2
  .size rudnnFibreStart, .-rudnnFibreStart
)");

struct Fibre::Impl {
  void *sp = nullptr;
#ifdef RUDNN_ASAN
  void *fake = nullptr;
  const void *bottom = nullptr;
  size_t size = 0;
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
#endif
};

#ifdef RUDNN_ASAN
static thread_local Fibre *switchedFrom;
#endif

void Fibre::prepare(void *stackBase, size_t stackBytes, void (*entry)(void *),
                    void *argument) {
  auto top =
      (reinterpret_cast<uintptr_t>(stackBase) + stackBytes) & ~uintptr_t(15);
  void **sp = reinterpret_cast<void **>(top);
  *--sp = nullptr; // two words keep the stack aligned at the call in
  *--sp = nullptr; // rudnnFibreStart
  *--sp = reinterpret_cast<void *>(&rudnnFibreStart);
  *--sp = nullptr; // rbp
  *--sp = nullptr; // rbx
#ifdef RUDNN_ASAN
  impl->entry = entry;
  impl->argument = argument;
  impl->bottom = stackBase;
  impl->size = stackBytes;
  impl->fake = nullptr;
  *--sp = this;                                      // r12
  *--sp = reinterpret_cast<void *>(+[](void *self) { // r13
    auto *fibre = static_cast<Fibre *>(self);
    __sanitizer_finish_switch_fiber(nullptr, &switchedFrom->impl->bottom,
                                    &switchedFrom->impl->size);
    fibre->impl->entry(fibre->impl->argument);
  });
#else
  *--sp = argument;                        // r12
  *--sp = reinterpret_cast<void *>(entry); // r13
#endif
  *--sp = nullptr; // r14
  *--sp = nullptr; // r15
  impl->sp = sp;
}

void Fibre::switchTo(Fibre &from, Fibre &to) {
#ifdef RUDNN_ASAN
  switchedFrom = &from;
  __sanitizer_start_switch_fiber(&from.impl->fake, to.impl->bottom,
                                 to.impl->size);
#endif
  rudnnFibreSwitch(&from.impl->sp, to.impl->sp);
#ifdef RUDNN_ASAN
  __sanitizer_finish_switch_fiber(from.impl->fake, &switchedFrom->impl->bottom,
                                  &switchedFrom->impl->size);
#endif
}

#else // any other host

#include <ucontext.h>

struct Fibre::Impl {
  ucontext_t context;
};

// makecontext passes ints only: a pointer travels as two halves.
static void start(unsigned entryHigh, unsigned entryLow, unsigned argumentHigh,
                  unsigned argumentLow) {
  auto entry = (uintptr_t(entryHigh) << 32) | entryLow;
  auto argument = (uintptr_t(argumentHigh) << 32) | argumentLow;
  reinterpret_cast<void (*)(void *)>(entry)(reinterpret_cast<void *>(argument));
}

void Fibre::prepare(void *stackBase, size_t stackBytes, void (*entry)(void *),
                    void *argument) {
  getcontext(&impl->context);
  impl->context.uc_stack.ss_sp = stackBase;
  impl->context.uc_stack.ss_size = stackBytes;
  impl->context.uc_link = nullptr;
  auto e = reinterpret_cast<uintptr_t>(entry);
  auto a = reinterpret_cast<uintptr_t>(argument);
  makecontext(&impl->context, reinterpret_cast<void (*)()>(&start), 4,
              unsigned(e >> 32), unsigned(e), unsigned(a >> 32), unsigned(a));
}

void Fibre::switchTo(Fibre &from, Fibre &to) {
  swapcontext(&from.impl->context, &to.impl->context);
}

#endif

Fibre::Fibre() : impl(std::make_unique<Impl>()) {}
Fibre::~Fibre() = default;

// Large enough for a kernel whose few hundred live registers all spill.
static constexpr size_t kStackBytes = 512 * 1024;

StackPool::StackPool(size_t count) {
  size_t page = sysconf(_SC_PAGESIZE);
  usable = kStackBytes;
  stride = usable + page;
  total = stride * count;
  void *m = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED)
    return;
  memory = static_cast<char *>(m);
  for (size_t i = 0; i < count; ++i)
    mprotect(memory + i * stride, page, PROT_NONE);
}

StackPool::~StackPool() {
  if (memory)
    munmap(memory, total);
}

void *StackPool::base(size_t i) const {
  return memory + i * stride + (stride - usable);
}
