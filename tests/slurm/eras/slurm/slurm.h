#pragma once

/* A stand-in for Slurm's public header, of any release from 22.05 to 26.05: compile with -DERA_MAJOR=25 -DERA_MINOR=11.
 *
 * It declares the calls and fields that the client uses, as each release has them, and nothing else: a use of what a
 * release has lost, or has under another type, does not compile. Written by hand; every type and number here was
 * compared, by compiling one program against both, with the real headers of 22.05.8, 23.11.4, 24.11.5, 25.11.2
 * and 26.05.5. Between those, a change is dated by the first release whose header was read to have it
 * (docs/decisions/slurm_plugin.md). Layouts are not theirs. */
#include <cstdint>
#include <ctime>

#include "slurm_errno.h"

#define SLURM_VERSION_NUM(major, minor, micro) (((major) << 16) + ((minor) << 8) + (micro))
#define SLURM_VERSION_MAJOR(number) (((number) >> 16) & 0xff)
#define SLURM_VERSION_MINOR(number) (((number) >> 8) & 0xff)
#define SLURM_VERSION_MICRO(number) ((number)&0xff)
#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(ERA_MAJOR, ERA_MINOR, 0)
#define ERA_SINCE(major, minor) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, 0))

#define INFINITE (0xffffffff)
#define NO_VAL (0xfffffffe)
#define SHOW_ALL 0x0001
#define OPEN_MODE_APPEND 1
#define KILL_JOB_BATCH 0x0001
#define NICE_OFFSET 0x80000000
#define MAIL_JOB_END 0x0002
#define MAIL_JOB_FAIL 0x0004
#define JOB_STATE_BASE 0x000000ff
#define JOB_COMPLETING 0x00008000
#define NODE_STATE_BASE 0x0000000f
#define NODE_STATE_DOWN 1
#define NODE_STATE_DRAIN 0x00000200
#define PARTITION_UP 3
#define PART_FLAG_DEFAULT 0x0001

enum job_states {
  JOB_PENDING,
  JOB_RUNNING,
  JOB_SUSPENDED,
  JOB_COMPLETE,
  JOB_CANCELLED,
  JOB_FAILED,
  JOB_TIMEOUT,
  JOB_NODE_FAIL,
  JOB_PREEMPTED,
  JOB_BOOT_FAIL,
  JOB_DEADLINE,
  JOB_OOM,
  JOB_END
};

/* 20.11 on; a plain number before 25.11 inside the messages below. */
typedef struct {
#if ERA_SINCE(25, 11)
  uint64_t sluid;
#endif
  uint32_t job_id;
  uint32_t step_het_comp;
  uint32_t step_id;
} slurm_step_id_t;

typedef struct {
  char *account, *array_inx, *comment, *dependency, *exc_nodes, *job_id_str, *features, *licenses, *mail_user, *name,
      *network, *partition, *qos, *req_nodes, *reservation, *script, *std_err, *std_in, *std_out, *tres_per_node,
      *wckey, *work_dir;
  char** environment;
  uint32_t env_size, user_id, group_id, priority, nice, time_limit, min_cpus, min_nodes, max_nodes, num_tasks;
  uint64_t pn_min_memory;
  uint8_t open_mode;
  uint16_t mail_type, requeue, shared, cpus_per_task, ntasks_per_node, warn_flags, warn_signal, warn_time;
#if ERA_SINCE(25, 11)
  slurm_step_id_t step_id;
#else
  uint32_t job_id;
#endif
} job_desc_msg_t;

typedef struct {
#if ERA_SINCE(25, 11)
  slurm_step_id_t step_id;
#else
  uint32_t job_id, step_id;
#endif
  uint32_t error_code;
  char* job_submit_user_msg;
} submit_response_msg_t;

typedef struct {
  uint32_t job_id, array_job_id, array_task_id, job_state, exit_code;
  char *array_task_str, *comment, *name, *nodes, *state_desc, *work_dir;
#if ERA_SINCE(23, 2)
  uint32_t state_reason;
#else
  uint16_t state_reason;
#endif
  time_t submit_time, start_time, end_time;
} slurm_job_info_t;

typedef struct {
  time_t last_update;
  uint32_t record_count;
  slurm_job_info_t* job_array;
} job_info_msg_t;

typedef struct {
  char* name;
  int32_t* node_inx;
  uint32_t max_time, total_nodes;
  uint16_t state_up;
#if ERA_SINCE(24, 5)
  uint32_t flags;
#else
  uint16_t flags;
#endif
} partition_info_t;

typedef struct {
  time_t last_update;
  uint32_t record_count;
  partition_info_t* partition_array;
} partition_info_msg_t;

typedef struct {
  char* name;
  uint16_t cpus;
  uint64_t real_memory;
  uint32_t node_state;
} node_info_t;

typedef struct {
  time_t last_update;
  uint32_t record_count;
  node_info_t* node_array;
} node_info_msg_t;

typedef struct {
  uint32_t max_array_sz, max_job_cnt;
  char* sched_params;
} slurm_conf_t;

extern "C" {
void slurm_init(const char* conf);
void slurm_fini(void);
void slurm_init_job_desc_msg(job_desc_msg_t* message);
int slurm_submit_batch_job(job_desc_msg_t* message, submit_response_msg_t** response);
void slurm_free_submit_response_response_msg(submit_response_msg_t* response);
typedef struct will_run_response_msg will_run_response_msg_t;
int slurm_job_will_run2(job_desc_msg_t* message, will_run_response_msg_t** answer);
int slurm_load_jobs(time_t update_time, job_info_msg_t** message, uint16_t show_flags);
void slurm_free_job_info_msg(job_info_msg_t* message);
int slurm_load_partitions(time_t update_time, partition_info_msg_t** message, uint16_t show_flags);
void slurm_free_partition_info_msg(partition_info_msg_t* message);
int slurm_load_node(time_t update_time, node_info_msg_t** message, uint16_t show_flags);
void slurm_free_node_info_msg(node_info_msg_t* message);
int slurm_kill_job2(const char* job_id, uint16_t signal, uint16_t flags, const char* sibling);
typedef struct job_array_resp_msg job_array_resp_msg_t;
int slurm_update_job2(job_desc_msg_t* job, job_array_resp_msg_t** answers);
void slurm_free_job_array_resp(job_array_resp_msg_t* answers);
int slurm_load_ctl_conf(time_t update_time, slurm_conf_t** conf);
#if ERA_SINCE(26, 5)
void slurm_free_conf(slurm_conf_t* conf);
long slurm_get_rem_time(slurm_step_id_t step_id);
#else
void slurm_free_ctl_conf(slurm_conf_t* conf);
long slurm_get_rem_time(uint32_t job_id);
#endif
#if !ERA_SINCE(24, 11)
int slurm_get_errno(void);
#endif
}
